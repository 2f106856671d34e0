// Elements that a network cannot tell apart, found by colour refinement, so that each class is computed once. The
// twin of trifold/nn/merging.py, which says why it is exact.
#pragma once

#include <cmath>

#include "network.h"

constexpr float WORTH = 0.75f;  // classes over elements, above which merging is not worth it

inline uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Numbers 0, 1, … for different words, in the order in which they first occur: open addressing.
class Numbering {
 public:
  explicit Numbering(int64_t most) {
    int64_t size = 16;
    while (size < 2 * most) size *= 2;
    keys_.resize(size);
    numbers_.assign(size, -1);
  }

  int32_t number(uint64_t word) {
    const uint64_t mask = keys_.size() - 1;
    uint64_t at = mix(word) & mask;
    while (numbers_[at] >= 0 && keys_[at] != word) at = (at + 1) & mask;
    if (numbers_[at] < 0) {
      keys_[at] = word;
      numbers_[at] = count_++;
    }
    return numbers_[at];
  }

  int32_t count() const { return count_; }

 private:
  std::vector<uint64_t> keys_;
  Ints numbers_;
  int32_t count_ = 0;
};

inline uint64_t atom_word(const std::vector<uint64_t>& colours, const int32_t* elements, int arity, int relation) {
  uint64_t word = mix(0x9e3779b97f4a7c15ull * (relation + 1));
  for (int j = 0; j < arity; j++) word = mix(word * 0x9e3779b97f4a7c15ull + colours[elements[j]]);
  return word;
}

inline int32_t count_different(const std::vector<uint64_t>& colours) {
  Numbering numbering((int64_t)colours.size());
  for (uint64_t colour : colours) numbering.number(colour);
  return numbering.count();
}

// Colours after as many rounds as there are layers, or fewer where these change nothing; none if merging is not worth it.
inline std::vector<uint64_t> refine(const Network& network, const Union& united, std::vector<uint64_t> colours) {
  int32_t before = 0;
  for (int layer = 1; layer <= network.layers; layer++) {
    std::vector<uint64_t> sums(colours.size());
    for (size_t r = 0; r < united.atoms.size(); r++) {
      const int arity = network.arities[r];
      const Ints& atoms = united.atoms[r];
      for (size_t a = 0; a < atoms.size(); a += arity) {
        const uint64_t word = atom_word(colours, &atoms[a], arity, (int)r);
        for (int j = 0; j < arity; j++) sums[atoms[a + j]] += mix(word + 0x632be59bd9b4e019ull * (j + 1));
      }
    }
    for (size_t e = 0; e < colours.size(); e++) colours[e] = mix(colours[e] * 0x9e3779b97f4a7c15ull + sums[e]);
    if ((layer & (layer - 1)) == 0) {  // counting takes as long as a round
      const int32_t found = count_different(colours);
      if (found > WORTH * (float)colours.size()) return {};
      if (found == before) break;
      before = found;
    }
  }
  return colours;
}

// Merge the elements of one class, and atoms that become the same; the class of each element, none if all stay alone.
inline Ints merge(const Network& network, Union& united, std::vector<uint64_t> first_colours) {
  const std::vector<uint64_t> colours = refine(network, united, std::move(first_colours));
  if (colours.empty()) return {};
  Numbering numbering(united.elements);
  Ints classes(united.elements), sizes;
  for (int64_t e = 0; e < united.elements; e++) {
    classes[e] = numbering.number(colours[e]);
    if (classes[e] == (int32_t)sizes.size()) sizes.push_back(0);
    sizes[classes[e]]++;
  }
  for (size_t r = 0; r < united.atoms.size(); r++) {
    const int arity = network.arities[r];
    Ints& atoms = united.atoms[r];
    Numbering same((int64_t)atoms.size() / arity);
    Ints kept, counts;
    for (size_t a = 0; a < atoms.size(); a += arity) {
      const int32_t number = same.number(atom_word(colours, &atoms[a], arity, (int)r));
      if (number == (int32_t)counts.size()) {
        counts.push_back(0);
        for (int j = 0; j < arity; j++) kept.push_back(classes[atoms[a + j]]);
      }
      counts[number]++;
    }
    Floats& logarithms = united.logarithms[r];
    for (size_t i = 0; i < kept.size(); i++)  // of N atoms, each member of a class has N / |class| at a position
      logarithms.push_back((float)std::log((double)counts[i / arity] / sizes[kept[i]]));
    atoms = std::move(kept);
  }
  united.elements = (int64_t)sizes.size();
  return classes;
}
