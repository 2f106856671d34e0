(define (problem two-marks) (:domain either) (:objects o - a u - b) (:init) (:goal (and (g))))
