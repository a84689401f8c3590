import json
import math
from types import SimpleNamespace

import pytest
from scoring_fakes import TOTAL, write

from ecgscroll.errors import ConfigError
from ecgscroll.scoring.ischemia_leads import LeadInterval, lead_intervals, verify_ischemia_leads

REFERENCE = [LeadInterval("V4", 100.0, 200.0, -0.3), LeadInterval("MLIII", 120.0, 220.0, 0.2)]


def said(lead, t0, t1, value, cursor=None):
    return write(t0, t1, cursor, type="ischemia", lead=lead, value=value)


def score(*entries, reference=REFERENCE, **options):
    return verify_ischemia_leads(reference, entries, TOTAL, **options)


def test_all_right_in_both_leads_scores_one():
    assert score(said("V4", 100, 200, -0.3), said("MLIII", 120, 220, 0.25)).value == 1.0


def test_a_pair_earns_the_mean_of_lead_iou_and_peak():
    one = REFERENCE[:1]
    assert score(said("V4", 100, 150, -0.3), reference=one).value == pytest.approx(
        (1 + 0.5 + 1) / 3
    )
    assert score(said("V5", 100, 200, -0.3), reference=one).value == pytest.approx(2 / 3)
    assert score(said("V4", 100, 200, -0.5), reference=one).value == pytest.approx(2 / 3)
    assert score(said(None, 100, 200, None), reference=one).value == pytest.approx(1 / 3)


def test_the_sign_of_the_peak_does_not_matter_and_its_tolerance_includes_the_end():
    one = REFERENCE[:1]
    assert score(said("V4", 100, 200, 0.4), reference=one).value == 1.0
    assert score(said("V4", 100, 200, 0.41), reference=one).value < 1.0


def test_an_unknown_peak_is_left_out_of_the_mean():
    unknown = [LeadInterval("V4", 100.0, 200.0, None)]
    assert score(said("V4", 100, 200, None), reference=unknown).value == 1.0


def test_a_missed_lead_and_an_extra_lead_cost_alike():
    assert score(said("V4", 100, 200, -0.3)).value == pytest.approx(2 / 3)
    extra = (said("V4", 100, 200, -0.3), said("V5", 400, 500, 0.2))
    assert score(*extra, reference=REFERENCE[:1]).value == pytest.approx(2 / 3)


def test_repeating_in_the_same_lead_changes_nothing():
    entry = said("V4", 100, 200, -0.3)
    assert score(entry, entry, said("V4", 120, 150, 0.1)).value == score(entry).value


def test_writing_every_lead_everywhere_does_not_pay():
    spray = [said(lead, 0, 600, 0.3) for lead in ("V4", "V5", "MLIII", None)]
    assert score(*spray).value < score(said("V4", 100, 200, -0.3)).value


def test_the_deepest_value_of_what_was_united_is_the_peak():
    pieces = (said("V4", 100, 150, -0.1), said("V4", 150, 200, -0.3))
    assert score(*pieces, reference=REFERENCE[:1]).value == 1.0


def test_nothing_over_nothing_scores_one_and_nothing_over_something_zero():
    assert score(reference=[]).value == 1.0
    assert score().value == 0.0


@pytest.mark.parametrize("bad", [said("V4", math.nan, 5, 0.1), said("V4", 200, 100, 0.3), "x"])
def test_worthless_entries_change_nothing(bad):
    good = said("V4", 100, 200, -0.3, cursor=210.0)
    assert score(good, bad).value == score(good).value


def test_latency_asks_for_the_right_lead():
    entries = (said("V5", 100, 200, None, 210.0), said("V4", 100, 200, None, 300.0))
    assert score(*entries).latency.stamps == (300.0, None)
    assert score(*entries).latency.earliest_delays()[0] == 300.0 - 175.0


def test_channel_indices_become_names():
    episode = SimpleNamespace(lead=1, start=5.0, stop=9.0, peak_mv=0.2)
    nameless = SimpleNamespace(lead=7, start=1.0, stop=2.0, peak_mv=None)
    named = lead_intervals([episode, nameless], ["V4", "V5"])
    assert [span.lead for span in named] == [None, "V5"]


def test_the_score_survives_strict_json():
    assert json.dumps(score(said("V4", 100, 200, -0.3)).to_dict(), allow_nan=False)


def test_a_tolerance_out_of_range_is_refused():
    with pytest.raises(ConfigError, match="peak_tolerance_mv"):
        score(peak_tolerance_mv=math.nan)
