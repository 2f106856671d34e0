(define (domain grid-visit-all)
  ; A robot moves between neighbouring cells of a grid and must have been in some or all of them.
  (:requirements :strips :typing)
  (:types place - object)
  (:predicates
    (connected ?x ?y - place)
    (at-robot ?x - place)
    (visited ?x - place))

  (:action move
    :parameters (?curpos ?nextpos - place)
    :precondition (and (at-robot ?curpos) (connected ?curpos ?nextpos))
    :effect (and (at-robot ?nextpos) (not (at-robot ?curpos)) (visited ?nextpos))))
