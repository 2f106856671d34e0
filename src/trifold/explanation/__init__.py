"""Explanations: what a policy did, step by step, what would have been best, and what to do about it."""

from trifold.explanation.advice import Advice, advise
from trifold.explanation.explanation import Blur, Choice, ExplainedStep, Explanation, Hump, Labels, Training
from trifold.explanation.following import explain
from trifold.explanation.job import ExplainJob
from trifold.explanation.plot import plot_explanation
from trifold.explanation.text import explanation_text, verdict

__all__ = [
    "Advice",
    "Blur",
    "Choice",
    "ExplainJob",
    "ExplainedStep",
    "Explanation",
    "Hump",
    "Labels",
    "Training",
    "advise",
    "explain",
    "explanation_text",
    "plot_explanation",
    "verdict",
]
