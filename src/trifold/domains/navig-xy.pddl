(define (domain navig-xy)
  ; A robot moves to a goal cell of a grid with blocked cells; the objects are the values of the two coordinates.
  (:requirements :strips :negative-preconditions)
  (:predicates
    (succ-x ?x ?next)
    (succ-y ?y ?next)
    (cell ?x ?y)
    (blocked ?x ?y)
    (at ?x ?y))

  (:action move-right
    :parameters (?x ?y ?next)
    :precondition (and (at ?x ?y) (succ-x ?x ?next) (cell ?next ?y) (not (blocked ?next ?y)))
    :effect (and (at ?next ?y) (not (at ?x ?y))))

  (:action move-left
    :parameters (?x ?y ?next)
    :precondition (and (at ?x ?y) (succ-x ?next ?x) (cell ?next ?y) (not (blocked ?next ?y)))
    :effect (and (at ?next ?y) (not (at ?x ?y))))

  (:action move-up
    :parameters (?x ?y ?next)
    :precondition (and (at ?x ?y) (succ-y ?y ?next) (cell ?x ?next) (not (blocked ?x ?next)))
    :effect (and (at ?x ?next) (not (at ?x ?y))))

  (:action move-down
    :parameters (?x ?y ?next)
    :precondition (and (at ?x ?y) (succ-y ?next ?y) (cell ?x ?next) (not (blocked ?x ?next)))
    :effect (and (at ?x ?next) (not (at ?x ?y)))))
