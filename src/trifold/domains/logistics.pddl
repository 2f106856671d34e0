(define (domain logistics-strips)
  ; Trucks carry packages within cities, airplanes between airports.
  (:requirements :strips)
  (:predicates
    (package ?obj)
    (truck ?truck)
    (location ?loc)
    (airplane ?airplane)
    (city ?city)
    (airport ?airport)
    (at ?obj ?loc)
    (in ?obj1 ?obj2)
    (in-city ?obj ?city))

  (:action load-truck
    :parameters (?obj ?truck ?loc)
    :precondition (and (package ?obj) (truck ?truck) (location ?loc) (at ?truck ?loc) (at ?obj ?loc))
    :effect (and (in ?obj ?truck) (not (at ?obj ?loc))))

  (:action load-airplane
    :parameters (?obj ?airplane ?loc)
    :precondition (and (package ?obj) (airplane ?airplane) (location ?loc) (at ?airplane ?loc) (at ?obj ?loc))
    :effect (and (in ?obj ?airplane) (not (at ?obj ?loc))))

  (:action unload-truck
    :parameters (?obj ?truck ?loc)
    :precondition (and (package ?obj) (truck ?truck) (location ?loc) (at ?truck ?loc) (in ?obj ?truck))
    :effect (and (at ?obj ?loc) (not (in ?obj ?truck))))

  (:action unload-airplane
    :parameters (?obj ?airplane ?loc)
    :precondition (and (package ?obj) (airplane ?airplane) (location ?loc) (at ?airplane ?loc) (in ?obj ?airplane))
    :effect (and (at ?obj ?loc) (not (in ?obj ?airplane))))

  (:action drive-truck
    :parameters (?truck ?loc-from ?loc-to ?city)
    :precondition (and (truck ?truck) (location ?loc-from) (location ?loc-to) (city ?city)
      (at ?truck ?loc-from) (in-city ?loc-from ?city) (in-city ?loc-to ?city))
    :effect (and (at ?truck ?loc-to) (not (at ?truck ?loc-from))))

  (:action fly-airplane
    :parameters (?airplane ?loc-from ?loc-to)
    :precondition (and (airplane ?airplane) (airport ?loc-from) (airport ?loc-to) (at ?airplane ?loc-from))
    :effect (and (at ?airplane ?loc-to) (not (at ?airplane ?loc-from)))))
