// A network as arrays, and what its layers need of a structure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

constexpr int TILE = 48;           // rows of a product at a time: what a core's nearest caches hold
constexpr float LOWEST = -1e30f;   // below every message
constexpr float SHARE = 0.8f;      // a first layer is shared between atoms where that leaves fewer rows than this part

typedef std::vector<float> Floats;
typedef std::vector<int32_t> Ints;

// W₂ mish(W₁ x + b₁) + b₂, as matrices (inputs, outputs) whose sizes are multiples of 16: what is beyond is 0.
struct Mlp {
  int inputs, hidden, outputs;
  Floats inner, inner_bias, outer, outer_bias;
};

struct Network {
  int dim, padded, layers;  // padded: dim, rounded up to a multiple of 16
  float sharpness;
  Ints arities;               // of the relations that send
  std::vector<Mlp> messages;  // of each of them; the outer layer carries the factor α
  Mlp update;

  bool has_values = false;
  Mlp values;
  Ints reads;               // of each schema: how many elements its query reads, or −1 if it has no parameters
  std::vector<Mlp> scores;  // of each schema

  int t = -1;                                // of A_t(S); −1: elements are objects
  Ints state_arities, state_senders;         // of each relation of a state, and which sending relation it becomes, or −1
  int object_sender = -1, triangle_sender = -1;
};

// A disjoint union of structures: per sending relation its atoms, end to end.
struct Union {
  int64_t elements = 0;
  std::vector<Ints> atoms;
  std::vector<Floats> logarithms;  // per relation and argument, of how many messages it stands for; empty: of one each

  explicit Union(const Network& network) : atoms(network.arities.size()), logarithms(network.arities.size()) {}

  int64_t rows() const {
    int64_t sum = 0;
    for (const Ints& own : atoms) sum += (int64_t)own.size();
    return sum;
  }
};

// The atoms of a relation, and which products of their first layer they share.
struct Sender {
  int relation, arity;
  int64_t atoms;
  const int32_t* elements;  // (atoms, arity)
  const Floats& logarithms;
  bool shared;
  std::vector<Ints> used;  // by position, the elements that occur there
  Ints parts;              // (atoms, arity) the product of each argument, among those of all positions

  Sender(int relation, int arity, const Ints& flat, const Floats& logarithms, Ints& place)
      : relation(relation), arity(arity), atoms((int64_t)flat.size() / arity), elements(flat.data()),
        logarithms(logarithms), shared(false), used(arity), parts(flat.size()) {
    int32_t part = 0;
    for (int j = 0; j < arity; j++) {
      for (int64_t a = 0; a < atoms; a++) {
        int32_t& at = place[elements[a * arity + j]];
        if (at < 0) {
          at = part++;
          used[j].push_back(elements[a * arity + j]);
        }
        parts[a * arity + j] = at;
      }
      for (int32_t element : used[j]) place[element] = -1;
    }
    shared = part < SHARE * (float)flat.size();
  }

  int64_t products() const {
    int64_t sum = 0;
    for (const Ints& own : used) sum += (int64_t)own.size();
    return shared ? sum * arity : 0;
  }
};

// Memory that all layers use anew.
struct Scratch {
  Floats parts, hidden, out, highest, sums;

  Scratch(const Network& network, const std::vector<Sender>& senders, int64_t elements) {
    const int64_t dim = network.padded;
    int64_t products = 0, width = 2;
    for (const Sender& sender : senders) {
      products = std::max(products, sender.products());
      width = std::max<int64_t>(width, sender.arity);
    }
    parts.resize(products * dim);
    hidden.resize(TILE * width * dim);
    out.resize(TILE * width * dim);
    highest.resize(elements * dim);
    sums.resize(elements * dim);
  }
};
