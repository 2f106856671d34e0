// What Python calls, through ctypes: a network made once from its weights, embeddings of a union, and looks at states.

#include <cmath>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "encoding.h"
#include "merging.h"
#include "network.h"

// The layers for each set of vector instructions that a machine may have; the best is chosen when the library is loaded.
#define ISA generic
#define TARGET
#define LANES 4
#define BLOCK_ROWS 4
#include "layers.h"
#undef ISA
#undef TARGET
#undef LANES
#undef BLOCK_ROWS
#if defined(__x86_64__)
#define ISA avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 8
#define BLOCK_ROWS 4
#include "layers.h"
#undef ISA
#undef TARGET
#undef LANES
#undef BLOCK_ROWS
#define ISA avx512
#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")))
#define LANES 16
#define BLOCK_ROWS 8
#include "layers.h"
#undef ISA
#undef TARGET
#undef LANES
#undef BLOCK_ROWS
#endif

namespace {

struct Instructions {
  const char* name;
  void (*run_layers)(const Network&, const std::vector<Sender>&, int64_t, float*, Scratch&);
  void (*apply)(const Mlp&, const float* const*, int, float*, float*);
};

const Instructions CHOICES[] = {
#if defined(__x86_64__)
    {"avx512", avx512::run_layers, avx512::apply},
    {"avx2", avx2::run_layers, avx2::apply},
#endif
    {"generic", generic::run_layers, generic::apply},
};

bool is_supported(const Instructions& choice) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (choice.run_layers == avx512::run_layers)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
  if (choice.run_layers == avx2::run_layers) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return true;
}

const Instructions* best() {
  for (const Instructions& choice : CHOICES)
    if (is_supported(choice)) return &choice;
  return nullptr;
}

const Instructions* chosen = best();

Mlp make_mlp(const float* const* weights, int inputs, int hidden, int outputs) {
  Mlp mlp{inputs, hidden, outputs, {}, {}, {}, {}};
  mlp.inner.assign(weights[0], weights[0] + (int64_t)inputs * hidden);
  mlp.inner_bias.assign(weights[1], weights[1] + hidden);
  mlp.outer.assign(weights[2], weights[2] + (int64_t)hidden * outputs);
  mlp.outer_bias.assign(weights[3], weights[3] + outputs);
  return mlp;
}

// The layers on a union of which x (elements, 2 · padded) holds the first embeddings, each followed by room.
void run(const Network& network, const Union& united, float* x) {
  Ints place(united.elements, -1);
  std::vector<Sender> senders;
  senders.reserve(united.atoms.size());
  for (size_t r = 0; r < united.atoms.size(); r++)
    if (!united.atoms[r].empty())
      senders.emplace_back((int)r, network.arities[r], united.atoms[r], united.logarithms[r], place);
  Scratch scratch(network, senders, united.elements);
  chosen->run_layers(network, senders, united.elements, x, scratch);
}

// smax over rows of embeddings, component by component; 0 of none.
void pool(const std::vector<const float*>& rows, int dim, float sharpness, float* out) {
  for (int i = 0; i < dim; i++) {
    float highest = LOWEST, sum = 0;
    for (const float* row : rows) highest = std::max(highest, row[i]);
    for (const float* row : rows) sum += std::exp(sharpness * (row[i] - highest));
    out[i] = rows.empty() ? 0.0f : highest + std::log(sum) / sharpness;
  }
}

// What one call asks about the states of a problem.
struct Question {
  int objects;
  Rows fixed, varying;
  int fixed_count;
  const int64_t* offsets;  // of each state's atoms among `indices`
  const int32_t* indices;
  Rows actions;
  const int64_t* action_offsets;  // of each state's actions; null: none are asked about
  float *values, *scores;
};

class Reader {
 public:
  Reader(const Network& network, const Question& question) : network_(network), q_(question) {}

  // Read states first … last − 1, together as long as they have at most so many messages a layer.
  void read(int first, int last, int64_t max_rows) {
    StateEncoder encoder(network_, q_.objects);
    Union united(network_);
    std::vector<Encoded> encoded;
    std::vector<const int32_t*> atoms;
    for (int s = first; s < last; s++) {
      atoms.clear();
      for (int i = 0; i < q_.fixed_count; i++) atoms.push_back(q_.fixed[i]);
      for (int64_t i = q_.offsets[s]; i < q_.offsets[s + 1]; i++) atoms.push_back(q_.varying[q_.indices[i]]);
      encoded.push_back(encoder.add(atoms, united, q_.action_offsets != nullptr));
      if (united.rows() >= max_rows || s + 1 == last) {
        answer(s + 1 - (int)encoded.size(), encoded, united);
        encoded.clear();
        united = Union(network_);
      }
    }
  }

 private:
  void answer(int first, const std::vector<Encoded>& encoded, Union& united) {
    const int64_t dim = network_.padded;
    const Ints classes = merge(network_, united, std::vector<uint64_t>(united.elements));
    Floats x(united.elements * 2 * dim);
    run(network_, united, x.data());
    auto embedding = [&](int64_t element) { return x.data() + (classes.empty() ? element : classes[element]) * 2 * dim; };
    for (size_t i = 0; i < encoded.size(); i++) {
      std::vector<const float*> rows;
      for (int o = 0; o < q_.objects; o++) rows.push_back(embedding(encoded[i].diagonal(o)));
      if (network_.has_values) q_.values[first + i] = value(rows);
      if (q_.action_offsets) score(first + (int)i, encoded[i], rows, embedding);
    }
  }

  float value(const std::vector<const float*>& rows) const {
    Floats sum(network_.padded), hidden(network_.values.hidden), out(network_.values.outputs);
    for (const float* row : rows)
      for (int i = 0; i < network_.padded; i++) sum[i] += row[i];
    const float* input = sum.data();
    chosen->apply(network_.values, &input, 1, hidden.data(), out.data());
    return out[0];
  }

  template <typename Embedding>
  void score(int state, const Encoded& encoded, const std::vector<const float*>& objects, const Embedding& embedding) const {
    const int dim = network_.padded;
    Floats pooled(dim), input, hidden, out;
    pool(objects, dim, network_.sharpness, pooled.data());
    for (int64_t a = q_.action_offsets[state]; a < q_.action_offsets[state + 1]; a++) {
      const int schema = q_.actions[a][0], reads = network_.reads[schema];
      if (reads < 0) {
        q_.scores[a] = -std::numeric_limits<float>::infinity();
        continue;
      }
      const Mlp& mlp = network_.scores[schema];
      input.assign(mlp.inputs, 0.0f);
      const int32_t* arguments = q_.actions[a] + 1;
      const int arity = network_.t < 0 ? reads : (int)std::lround(std::sqrt((double)reads));
      for (int i = 0; i < reads; i++) {
        int64_t element;
        if (network_.t < 0) element = encoded.first + arguments[i];
        else element = encoded.elements[(int64_t)arguments[i / arity] * q_.objects + arguments[i % arity]];
        if (element < 0) element = encoded.absent;
        std::memcpy(&input[(int64_t)i * dim], embedding(element), sizeof(float) * dim);
      }
      std::memcpy(&input[(int64_t)reads * dim], pooled.data(), sizeof(float) * dim);
      hidden.resize(mlp.hidden);
      out.resize(mlp.outputs);
      const float* row = input.data();
      chosen->apply(mlp, &row, 1, hidden.data(), out.data());
      q_.scores[a] = out[0];
    }
  }

  const Network& network_;
  const Question& q_;
};

template <typename Work>
int guarded(const Work& work) {
  try {
    work();
    return 0;
  } catch (const std::bad_alloc&) {
    return 1;
  } catch (...) {
    return 2;
  }
}

}  // namespace

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT const char* trifold_instructions() { return chosen->name; }

// Use these instructions from now on; 0 if this machine has not got them.
EXPORT int trifold_use(const char* name) {
  for (const Instructions& choice : CHOICES)
    if (!std::strcmp(choice.name, name) && is_supported(choice)) {
      chosen = &choice;
      return 1;
    }
  return 0;
}

// A network: per sending relation, and then for the update, four arrays of weights.
EXPORT void* trifold_network(int dim, int padded, int layers, float sharpness, int relations, const int32_t* arities,
                      const float* const* weights) {
  std::unique_ptr<Network> network;
  const int failure = guarded([&] {
    network = std::make_unique<Network>();
    network->dim = dim, network->padded = padded, network->layers = layers, network->sharpness = sharpness;
    network->arities.assign(arities, arities + relations);
    for (int r = 0; r < relations; r++) {
      const int width = arities[r] * padded;
      network->messages.push_back(make_mlp(weights + 4 * r, width, width, width));
    }
    network->update = make_mlp(weights + 4 * relations, 2 * padded, 2 * padded, padded);
  });
  return failure ? nullptr : network.release();
}

EXPORT void trifold_free(void* network) { delete static_cast<Network*>(network); }

EXPORT int trifold_set_values(void* handle, const float* const* weights, int inputs, int hidden, int outputs) {
  Network& network = *static_cast<Network*>(handle);
  return guarded([&] {
    network.values = make_mlp(weights, inputs, hidden, outputs);
    network.has_values = true;
  });
}

// The head of actions: per schema how many elements it reads, −1 without parameters, and then four arrays of weights.
EXPORT int trifold_set_scores(void* handle, int schemas, const int32_t* reads, int hidden, int outputs, const float* const* weights) {
  Network& network = *static_cast<Network*>(handle);
  return guarded([&] {
    network.reads.assign(reads, reads + schemas);
    for (int s = 0; s < schemas; s++) {
      network.scores.push_back(reads[s] < 0 ? Mlp{} : make_mlp(weights, (reads[s] + 1) * network.padded, hidden, outputs));
      if (reads[s] >= 0) weights += 4;
    }
  });
}

EXPORT int trifold_set_encoder(void* handle, int t, int relations, const int32_t* arities, const int32_t* senders,
                        int object_sender, int triangle_sender) {
  Network& network = *static_cast<Network*>(handle);
  return guarded([&] {
    network.t = t;
    network.state_arities.assign(arities, arities + relations);
    network.state_senders.assign(senders, senders + relations);
    network.object_sender = object_sender, network.triangle_sender = triangle_sender;
  });
}

// Embeddings (elements, dim) of a union: `embeddings` holds the first ones, and then the last. `counts` is of arguments.
EXPORT int trifold_embed(void* handle, int64_t elements, const int64_t* counts, const int32_t* const* atoms, float* embeddings) {
  const Network& network = *static_cast<Network*>(handle);
  return guarded([&] {
    const int64_t dim = network.dim, stride = 2 * (int64_t)network.padded;
    Union united(network);
    united.elements = elements;
    for (size_t r = 0; r < united.atoms.size(); r++) united.atoms[r].assign(atoms[r], atoms[r] + counts[r]);
    std::vector<uint64_t> colours(elements);
    for (int64_t e = 0; e < elements; e++)
      for (int64_t i = 0; i < dim; i++) {
        uint32_t bits;
        std::memcpy(&bits, embeddings + e * dim + i, sizeof bits);
        if (bits) colours[e] = mix(colours[e] * 0x9e3779b97f4a7c15ull + bits + ((uint64_t)i << 32));
      }
    const Ints classes = merge(network, united, std::move(colours));
    Floats x(united.elements * stride);
    for (int64_t e = 0; e < elements; e++)
      std::memcpy(&x[(classes.empty() ? e : classes[e]) * stride], embeddings + e * dim, sizeof(float) * dim);
    run(network, united, x.data());
    for (int64_t e = 0; e < elements; e++)
      std::memcpy(embeddings + e * dim, &x[(classes.empty() ? e : classes[e]) * stride], sizeof(float) * dim);
  });
}

// V of states of one problem, and the scores of their actions. Atoms and actions are rows of `width` and `action_width`
// integers; state s has the rows `indices[offsets[s]]` … of `varying`, and all of `fixed`.
EXPORT int trifold_read(void* handle, int objects, const int32_t* fixed, int fixed_count, const int32_t* varying, int width,
                        int states, const int64_t* offsets, const int32_t* indices, const int64_t* action_offsets,
                        const int32_t* actions, int action_width, int64_t max_rows, int threads, float* values,
                        float* scores) {
  const Network& network = *static_cast<Network*>(handle);
  return guarded([&] {
    const Question question{objects, {fixed, width}, {varying, width}, fixed_count, offsets, indices,
                            {actions, action_width}, action_offsets, values, scores};
    const int parts = std::max(1, std::min(threads, states));
    std::vector<std::thread> workers;
    workers.reserve(parts);
    std::vector<int> failures(parts);
    auto work = [&](int part) {
      failures[part] = guarded([&] {
        Reader(network, question).read((int)((int64_t)states * part / parts), (int)((int64_t)states * (part + 1) / parts), max_rows);
      });
    };
    int part = 1;
    try {
      for (; part < parts; part++) workers.emplace_back(work, part);
    } catch (const std::system_error&) {
    }  // there is no room for more threads: what is left is done here
    work(0);
    for (; part < parts; part++) work(part);
    for (std::thread& worker : workers) worker.join();
    for (int failure : failures)
      if (failure) throw std::bad_alloc();
  });
}
}
