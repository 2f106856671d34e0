// From the atoms of a state to what a network reads: S itself, or A_t(S). The twin of trifold/encoders/pairs.py with
// trifold/encoders/queries.py, which say what these are; elements and atoms are in the same order.
#pragma once

#include "network.h"

// Atoms or actions of a problem, one a row: the relation or schema, and then its arguments, padded. The first argument
// of a nullary atom is −1.
struct Rows {
  const int32_t* first;
  int width;
  const int32_t* operator[](int64_t row) const { return first + row * width; }
};

// A state as part of a union.
struct Encoded {
  int64_t first;   // its first element
  Ints elements;   // over objects: none. Over pairs (objects²): the element of each pair, or −1 if it is not live
  int objects;
  int64_t absent;  // the element that stands for all pairs that are not live; −1 if nothing asks for it
  int64_t diagonal(int object) const { return elements.empty() ? first + object : elements[(int64_t)object * objects + object]; }
};

class StateEncoder {
 public:
  StateEncoder(const Network& network, int objects) : network_(network), objects_(objects) {}

  // Add a state to a union. Atoms are sorted, so that nothing depends on the order in which they come.
  Encoded add(const std::vector<const int32_t*>& rows, Union& united, bool asks_for_pairs) {
    sorted_.clear();
    for (const int32_t* row : rows) sorted_.push_back({row[0], row + 1});
    std::sort(sorted_.begin(), sorted_.end(), [this](const Atom& a, const Atom& b) {
      if (a.relation != b.relation) return a.relation < b.relation;
      const int arity = network_.state_arities[a.relation];
      return std::lexicographical_compare(a.arguments, a.arguments + arity, b.arguments, b.arguments + arity);
    });
    return network_.t < 0 ? add_objects(united) : add_pairs(united, asks_for_pairs);
  }

 private:
  struct Atom {
    int32_t relation;
    const int32_t* arguments;
  };

  Encoded add_objects(Union& united) {
    const int64_t first = united.elements;
    for (const Atom& atom : sorted_) {
      const int sender = network_.state_senders[atom.relation];
      if (sender < 0) continue;
      Ints& out = united.atoms[sender];
      if (atom.arguments[0] < 0)
        for (int o = 0; o < objects_; o++) out.push_back((int32_t)(first + o));
      else
        for (int j = 0; j < network_.state_arities[atom.relation]; j++) out.push_back((int32_t)(first + atom.arguments[j]));
    }
    united.elements += objects_;
    return {first, {}, objects_, -1};
  }

  Encoded add_pairs(Union& united, bool asks_for_pairs) {
    const int n = objects_;
    relate();
    for (int step = 1; step < network_.t && square(); step++) {}
    list_neighbours();
    const int64_t first = united.elements;
    Ints element((int64_t)n * n, -1);
    mark_live(element);
    int64_t next = first;
    for (int32_t& at : element)
      if (at >= 0) at = (int32_t)next++;
    for (const Atom& atom : sorted_) add_atom(atom, element, united);
    if (network_.object_sender >= 0)
      for (int o = 0; o < n; o++) united.atoms[network_.object_sender].push_back(element[(int64_t)o * n + o]);
    if (network_.t > 0 && network_.triangle_sender >= 0) add_triangles(element, united.atoms[network_.triangle_sender]);
    const int64_t absent = asks_for_pairs && next - first < (int64_t)n * n ? next++ : -1;
    united.elements = next;
    return {first, std::move(element), n, absent};
  }

  // R_1: the pairs of objects that share an atom, of whatever relation.
  void relate() {
    const int n = objects_;
    related_.assign((int64_t)n * n, 0);
    for (int o = 0; o < n; o++) related_[(int64_t)o * n + o] = 1;
    for (const Atom& atom : sorted_) {
      const int arity = network_.state_arities[atom.relation];
      if (atom.arguments[0] < 0) continue;
      for (int i = 0; i < arity; i++)
        for (int j = 0; j < arity; j++) related_[(int64_t)atom.arguments[i] * n + atom.arguments[j]] = 1;
    }
  }

  // R ← R ∘ R, and whether that changes it.
  bool square() {
    const int n = objects_;
    list_neighbours();
    std::vector<uint8_t> squared((int64_t)n * n, 0);
    for (int o = 0; o < n; o++)
      for (int32_t middle : neighbours_[o])
        for (int32_t last : neighbours_[middle]) squared[(int64_t)o * n + last] = 1;
    const bool changed = squared != related_;
    related_.swap(squared);
    return changed;
  }

  void list_neighbours() {
    const int n = objects_;
    neighbours_.assign(n, {});
    for (int o = 0; o < n; o++)
      for (int other = 0; other < n; other++)
        if (related_[(int64_t)o * n + other]) neighbours_[o].push_back(other);
  }

  void mark_live(Ints& element) const {
    const int n = objects_;
    for (int o = 0; o < n; o++)
      for (int32_t middle : neighbours_[o]) {
        if (network_.t == 0) element[(int64_t)o * n + middle] = 0;
        else
          for (int32_t last : neighbours_[middle]) element[(int64_t)o * n + last] = 0;
      }
  }

  void add_atom(const Atom& atom, const Ints& element, Union& united) const {
    const int sender = network_.state_senders[atom.relation], arity = network_.state_arities[atom.relation];
    if (sender < 0) return;
    Ints& out = united.atoms[sender];
    const int64_t n = objects_;
    if (atom.arguments[0] < 0)
      for (int o = 0; o < n; o++) out.push_back(element[o * n + o]);
    else
      for (int i = 0; i < arity; i++)
        for (int j = 0; j < arity; j++) out.push_back(element[atom.arguments[i] * n + atom.arguments[j]]);
  }

  void add_triangles(const Ints& element, Ints& out) const {
    const int64_t n = objects_;
    for (int o = 0; o < n; o++)
      for (int32_t middle : neighbours_[o])
        for (int32_t last : neighbours_[middle]) {
          out.push_back(element[o * n + middle]);
          out.push_back(element[middle * n + last]);
          out.push_back(element[o * n + last]);
        }
  }

  const Network& network_;
  const int objects_;
  std::vector<Atom> sorted_;
  std::vector<uint8_t> related_;
  std::vector<Ints> neighbours_;
};
