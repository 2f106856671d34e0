(define (problem three-steps) (:domain disjunctions) (:objects o) (:init) (:goal (and (g))))
