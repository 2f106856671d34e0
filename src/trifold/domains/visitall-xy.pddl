(define (domain visitall-xy)
  ; As Visitall, but the objects are the values of the two coordinates: a cell is a pair of them.
  (:requirements :strips)
  (:predicates
    (succ-x ?x ?next)
    (succ-y ?y ?next)
    (cell ?x ?y)
    (at ?x ?y)
    (visited ?x ?y))

  (:action move-right
    :parameters (?x ?y ?next)
    :precondition (and (at ?x ?y) (succ-x ?x ?next) (cell ?next ?y))
    :effect (and (at ?next ?y) (not (at ?x ?y)) (visited ?next ?y)))

  (:action move-left
    :parameters (?x ?y ?next)
    :precondition (and (at ?x ?y) (succ-x ?next ?x) (cell ?next ?y))
    :effect (and (at ?next ?y) (not (at ?x ?y)) (visited ?next ?y)))

  (:action move-up
    :parameters (?x ?y ?next)
    :precondition (and (at ?x ?y) (succ-y ?y ?next) (cell ?x ?next))
    :effect (and (at ?x ?next) (not (at ?x ?y)) (visited ?x ?next)))

  (:action move-down
    :parameters (?x ?y ?next)
    :precondition (and (at ?x ?y) (succ-y ?next ?y) (cell ?x ?next))
    :effect (and (at ?x ?next) (not (at ?x ?y)) (visited ?x ?next))))
