(define (domain miconic)
  ; A lift takes passengers from their origin to their destination.
  (:requirements :strips)
  (:predicates
    (floor ?floor)
    (passenger ?passenger)
    (origin ?person ?floor)
    (destin ?person ?floor)
    (above ?floor1 ?floor2) ; floor2 is above floor1
    (boarded ?person)
    (served ?person)
    (lift-at ?floor))

  (:action board
    :parameters (?f ?p)
    :precondition (and (floor ?f) (passenger ?p) (lift-at ?f) (origin ?p ?f))
    :effect (boarded ?p))

  (:action depart
    :parameters (?f ?p)
    :precondition (and (floor ?f) (passenger ?p) (lift-at ?f) (destin ?p ?f) (boarded ?p))
    :effect (and (served ?p) (not (boarded ?p))))

  (:action up
    :parameters (?f1 ?f2)
    :precondition (and (floor ?f1) (floor ?f2) (lift-at ?f1) (above ?f1 ?f2))
    :effect (and (lift-at ?f2) (not (lift-at ?f1))))

  (:action down
    :parameters (?f1 ?f2)
    :precondition (and (floor ?f1) (floor ?f2) (lift-at ?f1) (above ?f2 ?f1))
    :effect (and (lift-at ?f2) (not (lift-at ?f1)))))
