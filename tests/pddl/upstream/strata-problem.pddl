(define (problem one-step) (:domain strata) (:objects o) (:init) (:goal (and (g))))
