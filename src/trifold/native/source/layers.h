// The layers of Algorithm 1, once for each set of vector instructions: interface.cpp includes this file several times,
// with ISA a namespace, TARGET the attribute that lets a function use the instructions, and LANES the floats of a vector.

namespace ISA {

typedef float Vector __attribute__((vector_size(4 * LANES)));
typedef int32_t Bits __attribute__((vector_size(4 * LANES)));

#define INLINE TARGET __attribute__((always_inline)) static inline
#define FUNCTION TARGET static

INLINE Vector load(const float* p) { Vector v; __builtin_memcpy(&v, p, sizeof v); return v; }
INLINE void store(float* p, Vector v) { __builtin_memcpy(p, &v, sizeof v); }
INLINE Vector all(float x) { return Vector{} + x; }
INLINE Vector greater(Vector a, Vector b) { return a > b ? a : b; }
INLINE Vector lesser(Vector a, Vector b) { return a < b ? a : b; }

// eˣ for x ≤ 88, to 2 units in the last place; 10⁻³⁸ where it would be less.
INLINE Vector exponential(Vector x) {
  x = greater(x, all(-87.0f));
  const Vector magic = all(12582912.0f);  // 1.5 · 2²³: adding it rounds to an integer, in the last bits
  Vector n = x * 1.44269504f + magic;
  const Bits power = ((Bits)n - (Bits)magic + 127) << 23;
  n -= magic;
  const Vector r = x - n * 0.693359375f - n * -2.12194440e-4f;
  Vector p = all(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return (p * (r * r) + r + 1.0f) * (Vector)power;
}

// log x for positive, normal x.
INLINE Vector logarithm(Vector x) {
  Bits bits = (Bits)x;
  Bits exponent = (bits >> 23) - 126;
  Vector m = (Vector)((bits & 0x007fffff) | 0x3f000000);  // in [½, 1)
  const Bits low = m < 0.707106781f;                       // −1 where it holds
  exponent += low;
  m = m + (Vector)(low & (Bits)m) - 1.0f;
  const Vector e = __builtin_convertvector(exponent, Vector);
  const Vector z = m * m;
  Vector p = all(7.0376836292e-2f);
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  return m + (p * m * z - e * 2.12194440e-4f - z * 0.5f) + e * 0.693359375f;
}

// x · tanh(log(1 + eˣ)) = x · n / (n + 2) with n = eˣ (eˣ + 2). From 20 on, the fraction is 1 to rounding.
INLINE Vector mish(Vector x) {
  const Vector power = exponential(lesser(x, all(20.0f)));
  const Vector n = power * (power + 2.0f);
  return x * (n / (n + 2.0f));
}

// A block of ROWS × COLUMNS vectors of a product: out = bias + Σ_i row[i] · weights[i], weights being (inputs, width).
template <int ROWS, int COLUMNS, bool ADD>
INLINE void product_block(const float* const* rows, const float* weights, const float* bias, int inputs, int width,
                          float* out, int stride) {
  Vector sum[ROWS][COLUMNS];
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) {
      sum[r][c] = bias ? load(bias + c * LANES) : Vector{};
      if (ADD) sum[r][c] += load(out + r * stride + c * LANES);
    }
  for (int i = 0; i < inputs; i++, weights += width) {
    Vector w[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) w[c] = load(weights + c * LANES);
    for (int r = 0; r < ROWS; r++) {
      const Vector x = all(rows[r][i]);
      for (int c = 0; c < COLUMNS; c++) sum[r][c] += x * w[c];
    }
  }
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) store(out + r * stride + c * LANES, sum[r][c]);
}

template <int ROWS, int COLUMNS, bool ADD>
FUNCTION void product_columns(const float* const* rows, int count, const float* weights, const float* bias, int inputs,
                              int width, float* out, int stride) {
  int r = 0;
  for (; r + ROWS <= count; r += ROWS)
    product_block<ROWS, COLUMNS, ADD>(rows + r, weights, bias, inputs, width, out + (int64_t)r * stride, stride);
  for (; r + 2 <= count; r += 2)
    product_block<2, COLUMNS, ADD>(rows + r, weights, bias, inputs, width, out + (int64_t)r * stride, stride);
  for (; r < count; r++)
    product_block<1, COLUMNS, ADD>(rows + r, weights, bias, inputs, width, out + (int64_t)r * stride, stride);
}

// out (count, width) = bias + rows · weights, or out += that; a row is given by where it begins. A few columns at a
// time, so that their weights stay in the nearest cache for all rows.
template <bool ADD>
FUNCTION void product(const float* const* rows, int count, const float* weights, const float* bias, int inputs,
                      int width, float* out, int stride) {
  int c = 0;
  const int most = 3 * LANES;
  for (; c + most <= width; c += most)
    product_columns<BLOCK_ROWS, 3, ADD>(rows, count, weights + c, bias ? bias + c : nullptr, inputs, width, out + c, stride);
  for (; c + 2 * LANES <= width; c += 2 * LANES)
    product_columns<BLOCK_ROWS, 2, ADD>(rows, count, weights + c, bias ? bias + c : nullptr, inputs, width, out + c, stride);
  for (; c < width; c += LANES)
    product_columns<BLOCK_ROWS, 1, ADD>(rows, count, weights + c, bias ? bias + c : nullptr, inputs, width, out + c, stride);
}

INLINE void mish_all(float* x, int count) {
  for (int i = 0; i < count; i += LANES) store(x + i, mish(load(x + i)));
}

// The state of a smooth maximum of α-fold messages: the greatest, and the sum of the others' powers relative to it.
INLINE void receive(float* highest, float* sums, const float* message, int dim, float offset) {
  for (int i = 0; i < dim; i += LANES) {
    const Vector m = load(message + i) + offset, before = load(highest + i), sum = load(sums + i);
    const Vector above = m - before;
    const Vector power = exponential(above > 0.0f ? -above : above);
    store(sums + i, above > 0.0f ? sum * power + 1.0f : sum + power);
    store(highest + i, greater(m, before));
  }
}

// Messages of the atoms of one relation, as far as their first layer can be shared: one product for each element that
// occurs at a position, and a sum over the positions for each atom.
FUNCTION void send(const Sender& sender, const Mlp& mlp, float* x, Scratch& scratch, int dim, float* highest, float* sums) {
  const int arity = sender.arity, width = arity * dim;
  const float* tile_rows[TILE];
  if (sender.shared) {
    int part = 0;
    for (int j = 0; j < arity; j++) {
      const std::vector<int32_t>& used = sender.used[j];
      const int count = (int)used.size();
      for (int first = 0; first < count; first += TILE) {
        const int rows = std::min(TILE, count - first);
        for (int r = 0; r < rows; r++) tile_rows[r] = x + (int64_t)used[first + r] * 2 * dim;
        product<false>(tile_rows, rows, mlp.inner.data() + (int64_t)j * dim * width, j ? nullptr : mlp.inner_bias.data(),
                       dim, width, scratch.parts.data() + (int64_t)(part + first) * width, width);
      }
      part += count;
    }
  }
  float *hidden = scratch.hidden.data(), *out = scratch.out.data();
  for (int64_t first = 0; first < sender.atoms; first += TILE) {
    const int rows = (int)std::min<int64_t>(TILE, sender.atoms - first);
    if (sender.shared) {
      for (int r = 0; r < rows; r++) {
        const int32_t* parts = sender.parts.data() + (first + r) * arity;
        for (int i = 0; i < width; i += LANES) {
          Vector sum = load(scratch.parts.data() + (int64_t)parts[0] * width + i);
          for (int j = 1; j < arity; j++) sum += load(scratch.parts.data() + (int64_t)parts[j] * width + i);
          store(hidden + (int64_t)r * width + i, mish(sum));
        }
      }
    } else {
      for (int r = 0; r < rows; r++) {
        const int32_t* elements = sender.elements + (first + r) * arity;
        for (int j = 0; j < arity; j++)
          std::memcpy(out + (int64_t)r * width + j * dim, x + (int64_t)elements[j] * 2 * dim, sizeof(float) * dim);
        tile_rows[r] = out + (int64_t)r * width;
      }
      product<false>(tile_rows, rows, mlp.inner.data(), mlp.inner_bias.data(), width, width, hidden, width);
      mish_all(hidden, rows * width);
    }
    for (int r = 0; r < rows; r++) tile_rows[r] = hidden + (int64_t)r * width;
    product<false>(tile_rows, rows, mlp.outer.data(), mlp.outer_bias.data(), width, width, out, width);
    for (int r = 0; r < rows; r++)
      for (int j = 0; j < arity; j++) {
        const int64_t row = (first + r) * arity + j, element = sender.elements[row];
        const float offset = sender.logarithms.empty() ? 0.0f : sender.logarithms[row];
        receive(highest + element * dim, sums + element * dim, out + (int64_t)r * width + j * dim, dim, offset);
      }
  }
}

// f ← f + MLP_U(f, smax of what it received), where x holds both, side by side.
FUNCTION void update(const Mlp& mlp, int64_t elements, int dim, float sharpness, const float* highest, const float* sums,
                     float* x, Scratch& scratch) {
  const float* tile_rows[TILE];
  float* hidden = scratch.hidden.data();
  for (int64_t first = 0; first < elements; first += TILE) {
    const int rows = (int)std::min<int64_t>(TILE, elements - first);
    for (int r = 0; r < rows; r++) {
      const int64_t e = first + r;
      float* received = x + e * 2 * dim + dim;
      for (int i = 0; i < dim; i += LANES) {
        const Vector sum = load(sums + e * dim + i);
        const Vector smooth = (load(highest + e * dim + i) + logarithm(greater(sum, all(1e-30f)))) * (1.0f / sharpness);
        store(received + i, sum == 0.0f ? Vector{} : smooth);  // nothing was received
      }
      tile_rows[r] = x + e * 2 * dim;
    }
    product<false>(tile_rows, rows, mlp.inner.data(), mlp.inner_bias.data(), 2 * dim, 2 * dim, hidden, 2 * dim);
    mish_all(hidden, rows * 2 * dim);
    for (int r = 0; r < rows; r++) tile_rows[r] = hidden + (int64_t)r * 2 * dim;
    product<true>(tile_rows, rows, mlp.outer.data(), mlp.outer_bias.data(), 2 * dim, dim, x + first * 2 * dim, 2 * dim);
  }
}

FUNCTION void run_layers(const Network& network, const std::vector<Sender>& senders, int64_t elements, float* x, Scratch& scratch) {
  const int dim = network.padded;
  float *highest = scratch.highest.data(), *sums = scratch.sums.data();
  for (int layer = 0; layer < network.layers; layer++) {
    for (int64_t i = 0; i < elements * dim; i++) highest[i] = LOWEST, sums[i] = 0.0f;
    for (const Sender& sender : senders) send(sender, network.messages[sender.relation], x, scratch, dim, highest, sums);
    update(network.update, elements, dim, network.sharpness, highest, sums, x, scratch);
  }
}

// out (rows, width of the outer layer) of an MLP, row by row.
FUNCTION void apply(const Mlp& mlp, const float* const* rows, int count, float* hidden, float* out) {
  const int width = mlp.hidden;
  product<false>(rows, count, mlp.inner.data(), mlp.inner_bias.data(), mlp.inputs, width, hidden, width);
  mish_all(hidden, count * width);
  std::vector<const float*> then(count);
  for (int r = 0; r < count; r++) then[r] = hidden + (int64_t)r * width;
  product<false>(then.data(), count, mlp.outer.data(), mlp.outer_bias.data(), width, mlp.outputs, out, mlp.outputs);
}

#undef INLINE
#undef FUNCTION
}  // namespace ISA
