"""The tables of the paper, as printed: Lu, Zhang, Zhai 2023, doi 10.16356/j.1005-2615.2023.02.020.

代价敏感惩罚AdaBoost算法的非平衡数据分类 (classification of imbalanced data by cost-sensitive penalized
AdaBoost). Tables 1, 3 and 4. Each cell has two values: of the linear algorithm, then of the nonlinear one.
"""

from typing import Literal, NamedTuple, TypeAlias

Kernel: TypeAlias = Literal["linear", "rbf"]


class Pair(NamedTuple):
    """One cell: a value for each kernel, None where the paper prints none."""

    linear: float
    rbf: float | None


Row: TypeAlias = tuple[Pair, Pair, Pair, Pair, Pair]
Numbers: TypeAlias = tuple[tuple[float, float | None], ...]


class Shape(NamedTuple):
    """What Table 1 says of a set."""

    imbalance: float
    samples: int
    features: int


#: The columns of Tables 3 and 4.
ALGORITHMS = ("PADA", "GCADA", "MCADA", "SMLBoost", "PCADA")

TABLE_1 = {
    "yeast_2_vs_4": Shape(9.08, 514, 8),
    "vehicle0": Shape(3.25, 846, 18),
    "pima": Shape(1.87, 768, 8),
    "yeast1": Shape(2.46, 1484, 8),
    "glass_0_1_6_vs_2": Shape(10.29, 192, 9),
    "segment0": Shape(6.02, 2308, 19),
    "car_vgood": Shape(25.58, 1728, 6),
    "kr_vs_k_zero_one_vs_draw": Shape(26.63, 2901, 6),
    "abalone9_18": Shape(16.4, 731, 8),
    "vowel0": Shape(9.98, 988, 13),
    "ecoli4": Shape(15.8, 336, 7),
    "page_blocks0": Shape(8.79, 5472, 10),
    "avila": Shape(8.52, 20867, 10),
    "bank_full": Shape(7.54, 45211, 16),
}


def _rows(printed: dict[str, Numbers]) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for name, cells in printed.items():
        pada, gcada, mcada, sml_boost, pcada = (Pair(*cell) for cell in cells)
        rows[name] = (pada, gcada, mcada, sml_boost, pcada)
    return rows


#: G-mean. The text at hand prints nine values for bank_full; the one missing is taken to be PADA's second.
TABLE_3 = _rows(
    {
        "yeast_2_vs_4": (
            (0.8434, 0.8691),
            (0.8551, 0.8923),
            (0.8996, 0.9385),
            (0.9054, 0.9262),
            (0.9325, 0.9597),
        ),
        "vehicle0": (
            (0.7172, 0.8958),
            (0.7095, 0.9029),
            (0.7365, 0.9029),
            (0.6874, 0.8577),
            (0.7621, 0.9240),
        ),
        "pima": ((0.5400, 0.7452), (0.5500, 0.7408), (0.5221, 0.7384), (0.5574, 0.7387), (0.5715, 0.7457)),
        "yeast1": ((0.6081, 0.7264), (0.7075, 0.7862), (0.6995, 0.7413), (0.6657, 0.6968), (0.7224, 0.7261)),
        "glass_0_1_6_vs_2": (
            (0.5070, 0.7367),
            (0.5345, 0.6094),
            (0.5523, 0.7883),
            (0.5478, 0.8977),
            (0.5606, 0.9258),
        ),
        "segment0": (
            (0.5722, 0.9140),
            (0.5707, 0.9153),
            (0.7498, 0.8778),
            (0.7854, 0.9254),
            (0.8821, 0.9428),
        ),
        "car_vgood": (
            (0.8960, 0.9047),
            (0.9194, 0.9475),
            (0.9202, 0.9636),
            (0.8857, 0.8967),
            (0.9617, 0.9694),
        ),
        "kr_vs_k_zero_one_vs_draw": (
            (0.7420, 0.7428),
            (0.7477, 0.7520),
            (0.7501, 0.7525),
            (0.7765, 0.7857),
            (0.8073, 0.8452),
        ),
        "abalone9_18": (
            (0.7311, 0.8080),
            (0.7613, 0.8437),
            (0.6319, 0.8008),
            (0.7565, 0.8257),
            (0.8164, 0.8836),
        ),
        "vowel0": ((0.6943, 0.8398), (0.6923, 0.8603), (0.7557, 0.9099), (0.7489, 0.8957), (0.7949, 0.9118)),
        "ecoli4": ((0.7565, 0.8014), (0.7921, 0.8174), (0.8065, 0.8156), (0.8167, 0.8373), (0.8838, 0.8985)),
        "page_blocks0": (
            (0.7469, 0.7690),
            (0.8001, 0.8475),
            (0.7933, 0.8146),
            (0.7564, 0.8087),
            (0.8219, 0.8810),
        ),
        "avila": ((0.5416, 0.6901), (0.6021, 0.7454), (0.6136, 0.7105), (0.6398, 0.7589), (0.6749, 0.8039)),
        "bank_full": ((0.5001, None), (0.5074, 0.5102), (0.5064, 0.5369), (0.5054, 0.5541), (0.5106, 0.5648)),
    }
)

#: AUC.
TABLE_4 = _rows(
    {
        "yeast_2_vs_4": (
            (0.5722, 0.9140),
            (0.5707, 0.9153),
            (0.7498, 0.8778),
            (0.7854, 0.9254),
            (0.8821, 0.9628),
        ),
        "vehicle0": (
            (0.6678, 0.7950),
            (0.6795, 0.8011),
            (0.7062, 0.8229),
            (0.6974, 0.8477),
            (0.7921, 0.9440),
        ),
        "pima": ((0.5400, 0.6572), (0.5500, 0.6658), (0.5221, 0.7089), (0.5574, 0.7387), (0.6714, 0.7800)),
        "yeast1": ((0.5722, 0.9140), (0.5707, 0.9153), (0.7498, 0.8778), (0.7854, 0.9254), (0.8821, 0.9428)),
        "glass_0_1_6_vs_2": (
            (0.6098, 0.7367),
            (0.6345, 0.8099),
            (0.6511, 0.7993),
            (0.6478, 0.8645),
            (0.6606, 0.9258),
        ),
        "segment0": (
            (0.8420, 0.8928),
            (0.8477, 0.8987),
            (0.8491, 0.9025),
            (0.9365, 0.9457),
            (0.9373, 0.9482),
        ),
        "car_vgood": (
            (0.7960, 0.7621),
            (0.8794, 0.8477),
            (0.8211, 0.8325),
            (0.8951, 0.9012),
            (0.9617, 0.9694),
        ),
        "kr_vs_k_zero_one_vs_draw": (
            (0.8420, 0.8638),
            (0.8470, 0.8743),
            (0.8501, 0.8795),
            (0.8365, 0.8857),
            (0.8673, 0.8952),
        ),
        "abalone9_18": (
            (0.6543, 0.7080),
            (0.6478, 0.7543),
            (0.7089, 0.7948),
            (0.7765, 0.8257),
            (0.8786, 0.8935),
        ),
        "vowel0": ((0.5643, 0.7398), (0.6543, 0.7609), (0.7098, 0.8011), (0.7331, 0.8957), (0.7949, 0.9321)),
        "ecoli4": ((0.6543, 0.7854), (0.7084, 0.7432), (0.8021, 0.8134), (0.8264, 0.8447), (0.8531, 0.8555)),
        "page_blocks0": (
            (0.6521, 0.7026),
            (0.7003, 0.7987),
            (0.7233, 0.8140),
            (0.7564, 0.8487),
            (0.8347, 0.8870),
        ),
        "avila": ((0.5745, 0.6588), (0.6245, 0.7298), (0.6588, 0.7456), (0.7346, 0.7589), (0.7748, 0.8234)),
        "bank_full": (
            (0.5065, 0.5091),
            (0.5274, 0.5324),
            (0.5674, 0.5700),
            (0.5654, 0.5741),
            (0.6233, 0.6789),
        ),
    }
)


def impossible_cells() -> list[tuple[str, str, Kernel]]:
    """Cells no classifier can have: set, algorithm, kernel.

    A point (1 - specificity, sensitivity) of a ROC curve has the rectangle sensitivity x specificity below
    it, so an area is at least the square of a G-mean; the same holds for means over folds.
    """
    kernels: tuple[Kernel, Kernel] = ("linear", "rbf")
    return [
        (name, algorithm, kernel)
        for name in TABLE_1
        for algorithm, g_mean, area in zip(ALGORITHMS, TABLE_3[name], TABLE_4[name], strict=True)
        for kernel, g, a in zip(kernels, g_mean, area, strict=True)
        if g is not None and a is not None and a < g * g
    ]


def copied_rows(least: int = 5) -> list[tuple[str, str, str, str, int]]:
    """Rows of different sets or metrics that agree in several values: metric, set, metric, set, how many."""
    rows = [("G-mean", name, row) for name, row in TABLE_3.items()]
    rows += [("AUC", name, row) for name, row in TABLE_4.items()]
    found = []
    for i, (metric, name, row) in enumerate(rows):
        for other_metric, other, other_row in rows[i + 1 :]:
            equal = sum(
                a == b for p, q in zip(row, other_row, strict=True) for a, b in zip(p, q, strict=True)
            )
            if equal >= least:
                found.append((metric, name, other_metric, other, equal))
    return found
