"""The problems of the sample in their order, which is that of their dates, and the two of the demo."""

from sample_problems import (
    lk101,
    lk102,
    lk103,
    lk104,
    lk105,
    lk106,
    lk107,
    lka1_a,
    lka2_a,
    lka2_d,
    lka3_b,
    lka4_f,
    lkc1_a,
    lkc1_c,
    lkc2_a,
    lkc2_d,
    lkc3_b,
    lkc4_e,
    lkdemo1,
    lkdemo2,
)

__all__ = ["DEMO", "SAMPLE"]

DEMO = (lkdemo1.PROBLEM, lkdemo2.PROBLEM)

SAMPLE = (
    lka1_a.PROBLEM,
    lk101.PROBLEM,
    lkc1_a.PROBLEM,
    lkc1_c.PROBLEM,
    lk102.PROBLEM,
    lk103.PROBLEM,
    lka2_a.PROBLEM,
    lka2_d.PROBLEM,
    lk104.PROBLEM,
    lkc2_a.PROBLEM,
    lkc2_d.PROBLEM,
    lka3_b.PROBLEM,
    lk105.PROBLEM,
    lk106.PROBLEM,
    lka4_f.PROBLEM,
    lkc3_b.PROBLEM,
    lk107.PROBLEM,
    lkc4_e.PROBLEM,
)
