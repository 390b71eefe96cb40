"""The algebra behind subgroup net benefit, with letters: every difference simplifies to 0."""

import itertools

import pytest
import sympy as sp

import auditlib as al

a, b, c, d, t, lam, r, q = sp.symbols("a b c d t lambda r q")
TP, FP, FN, TN = sp.symbols("TP FP FN TN", positive=True)
N = TP + FP + FN + TN
W = t / (1 - t)
PI = (TP + FN) / N
NB = (TP - W * FP) / N
SE, FPR = TP / (TP + FN), FP / (FP + TN)


def same(left, right):
    return sp.simplify(left - right) == 0


def utility(a=a, b=b, c=c, d=d):
    return (a * TP + b * FP + c * FN + d * TN) / N


@pytest.fixture
def b_at_t():
    """The b that makes treating and not treating equal at risk t."""
    (found,) = sp.solve(sp.Eq(a * t + b * (1 - t), c * t + d * (1 - t)), b)
    return found


def test_the_threshold_is_the_price_of_a_false_positive(b_at_t):
    assert same((d - b_at_t) / (a - c), W)


def test_equation_5_follows_from_four_utilities(b_at_t):
    held = utility(b=b_at_t)
    assert same(held, d * (1 - PI) + c * PI + (a - c) / N * (TP - W * FP))
    assert same((held - c) / (d - c), 1 - PI + (a - c) / (d - c) * NB)


def test_a_wrong_formula_is_noticed(b_at_t):
    assert not same((utility(b=b_at_t) - c) / (d - c), 1 - PI + (a - c) / (d - c) * (TP - FP) / N)
    assert not same((utility(b=b_at_t) - c) / (d - c), 1 - PI + NB)


def test_net_benefit_is_what_treating_adds_in_true_positives(b_at_t):
    untreated = utility(a=c, b=d)
    assert same((utility(b=b_at_t) - untreated) / (a - c), NB)


def test_what_each_cell_counts(b_at_t):
    effect = (a - c) / (d - c)
    counts = {a: effect, b_at_t: 1 - effect * W, c: 0, d: 1}
    assert all(same((worth - c) / (d - c), value) for worth, value in counts.items())


def test_a_binary_outcome_makes_lambda_the_relative_risk_reduction():
    """With r the outcome's chance untreated and s its chance treated: a = 1 − s, c = 1 − r, d = 1."""
    s = sp.symbols("s")
    effect = ((1 - s) - (1 - r)) / (1 - (1 - r))
    assert same(effect, 1 - s / r)
    worth_b = 1 - W * ((1 - s) - (1 - r))  # d − w(a − c)
    whole = utility(a=1 - s, b=worth_b, c=1 - r, d=sp.Integer(1))
    assert same(whole, 1 - r * (PI - effect * NB))
    assert same((whole - (1 - r)) / r, 1 - PI + effect * NB)  # the paper's form, rescaled with the group's own r
    assert same((whole - (1 - r)) / r - whole, (1 - 1 / r) * (1 - whole))


def test_the_paper_s_offset_is_harmless_within_a_group_only():
    """Two policies of one group: dividing by r scales their difference. Two groups: the offset 1 − 1/r stays."""
    whole = 1 - r * (PI - lam * NB)
    reset = 1 - PI + lam * NB
    assert same(reset, whole / r + 1 - 1 / r)
    other = 1 - r * PI
    assert same(reset - (1 - PI), (whole - other) / r)


def test_relative_utility_is_an_identity_and_depends_on_prevalence():
    ru = NB / PI
    assert same(1 - PI * (1 - lam * ru), 1 - PI + lam * NB)
    assert same(ru, SE - W * FPR * (1 - PI) / PI)
    se, fpr, pi = sp.symbols("Se F pi", positive=True)
    assert same(sp.diff(se - W * fpr * (1 - pi) / pi, pi), W * fpr / pi**2)  # rises with π, Se and F held


def snb(tp, fp, fn, tn):
    people = tp + fp + fn + tn
    return 1 - (tp + fn) / people + lam * (tp - W * fp) / people


@pytest.mark.parametrize(
    ("cells", "benefit"),
    [
        ((0, 0, TP + FN, FP + TN), 0),
        ((TP + FN, FP + TN, 0, 0), PI - W * (1 - PI)),
        ((q * (TP + FN), q * (FP + TN), (1 - q) * (TP + FN), (1 - q) * (FP + TN)), q * (PI - W * (1 - PI))),
        ((TP + FN, 0, 0, FP + TN), PI),
    ],
    ids=["none", "all", "share", "perfect"],
)
def test_closed_forms_of_policies(cells, benefit):
    assert same(snb(*cells), 1 - PI + lam * benefit)


@pytest.mark.parametrize(("policy", "share"), [("none", None), ("all", None), ("perfect", None), (0.3, 0.3)])
def test_policies_of_the_package_have_these_closed_forms(policy, share):
    table = al.parse_confusion("A:20,100,870,10; B:80,40,800,30")
    pi, w = al.prevalence(table), 0.15 / 0.85
    everybody = pi - w * (1 - pi)
    benefit = {"none": 0 * pi, "all": everybody, "perfect": pi}.get(policy, (share or 0) * everybody)
    found = al.subgroup_net_benefit(al.treat(table, policy), 0.15, 0.58)
    assert found.values == pytest.approx((1 - pi + 0.58 * benefit).values, abs=1e-15)


def test_treating_everybody_pays_where_the_prevalence_exceeds_the_threshold():
    pi = sp.symbols("pi")
    assert same(pi - W * (1 - pi), (pi - t) / (1 - t))


def test_perfect_decisions_leave_the_share_one_minus_lambda_of_a_gap():
    pi_a, pi_b = sp.symbols("pi_A pi_B")
    perfect = (1 - pi_a + lam * pi_a) - (1 - pi_b + lam * pi_b)
    assert same(perfect, (1 - lam) * ((1 - pi_a) - (1 - pi_b)))


def test_against_treating_everybody_a_model_trades_true_negatives_for_false_negatives():
    everybody = snb(TP + FN, FP + TN, 0, 0)
    assert same(snb(TP, FP, FN, TN) - everybody, lam * (W * TN - FN) / N)


def test_the_population_is_the_weighted_mean_of_its_groups():
    one = (TP, FP, FN, TN)
    two = sp.symbols("TP2 FP2 FN2 TN2", positive=True)
    whole = snb(*(x + y for x, y in zip(one, two, strict=True)))
    n, m = sum(one), sum(two)
    assert same((n * snb(*one) + m * snb(*two)) / (n + m), whole)


def test_das_gupta_s_closed_forms_are_the_mean_over_orders():
    """The parts of FACTS: S(x, y) = (2x_Ay_A + x_Ay_B + x_By_A + 2x_By_B)/6, for π, λ and the model (Se, F)."""
    names = ("pi", "lam", "se", "f")
    A, B = ({name: sp.symbols(f"{name}_{side}") for name in names} for side in "AB")
    w = sp.symbols("w")
    factors = {"prevalence": ("pi",), "lam": ("lam",), "model": ("se", "f")}

    def worth(values):
        pi, effect, se, f = (values[name] for name in names)
        return 1 - pi + effect * (se * pi - w * f * (1 - pi))

    def mean_over_orders(factor):
        total = 0
        orders = list(itertools.permutations(factors))
        for order in orders:
            before = [n for g in order[: order.index(factor)] for n in factors[g]]
            held = {n: (A if n in before else B)[n] for n in names}
            total += worth(held | {n: A[n] for n in factors[factor]}) - worth(held)
        return total / len(orders)

    def s(x, y):
        return (2 * x[0] * y[0] + x[0] * y[1] + x[1] * y[0] + 2 * x[1] * y[1]) / 6

    pi, effect, se, f = ((A[n], B[n]) for n in names)
    rho = (1 - pi[0], 1 - pi[1])
    closed = {
        "prevalence": (pi[0] - pi[1]) * (-1 + s(effect, se) + w * s(effect, f)),
        "lam": (effect[0] - effect[1]) * (s(pi, se) - w * s(rho, f)),
        "model": (se[0] - se[1]) * s(pi, effect) - w * (f[0] - f[1]) * s(rho, effect),
    }
    for factor, formula in closed.items():
        assert sp.expand(mean_over_orders(factor) - formula) == 0
    assert sp.expand(sum(closed.values()) - (worth(A) - worth(B))) == 0
