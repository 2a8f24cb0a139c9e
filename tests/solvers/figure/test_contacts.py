"""Nothing passes through: capsules keep apart from each other, from floors and from boxes."""

import numpy as np
import pytest
from bodied import depths, goals, motion, person, segments
from drawn import WEDGE, WEDGE_FACES

import solvers as ik
from solvers.algebra import quaternion
from solvers.model.convex import CUBE
from solvers.model.goals import Targets
from solvers.space.contacts import ContactGaps, closest
from solvers.space.convex import nearest, placed
from solvers.space.joint_space import JointSpace
from solvers.space.tasks import Tasks

FRAMES = 80
AFRESH = ik.Options(warm_start=False)


JOINED = [
    ("hips", "spine"), ("spine", "chest"), ("chest", "neck"), ("neck", "head"), ("hips", "chest"), ("chest", "head"),
    *((one + side, other + (side if other in ("arm", "fore", "thigh", "shin") else "")) for side in "LR"
      for one, other in (("arm", "chest"), ("fore", "arm"), ("hand", "fore"), ("thigh", "hips"), ("thigh", "spine"),
                         ("shin", "thigh"), ("foot", "shin"))),
]  # fmt: skip


def _neighbours(skeleton, capsules):
    """(C, C) bool: bones that meet, or that lie in each other at rest with one bone between them."""
    del skeleton
    joined = {frozenset(pair) for pair in JOINED}
    return np.array([[a.joint == b.joint or frozenset((a.joint, b.joint)) in joined for b in capsules]
                     for a in capsules])  # fmt: skip


@pytest.fixture(scope="module")
def solved():
    """The person's motion without and with contacts."""
    skeleton, capsules = person()
    contacts = ik.Contacts(capsules, [ik.Plane()])
    free, kept = (ik.solve_frames(skeleton, goals(), motion(FRAMES), options=AFRESH, contacts=one)
                  for one in (None, contacts))  # fmt: skip
    return skeleton, capsules, contacts, free, kept


def _deepest(skeleton, capsules, solutions):
    rest = np.maximum(depths(skeleton, capsules, skeleton.rest_pose()), 0.0)
    none = _neighbours(skeleton, capsules)
    return np.array([np.where(none, -1.0, depths(skeleton, capsules, one.pose) - rest).max() for one in solutions])


def _lowest(skeleton, capsules, solutions):
    radius = np.array([one.radius for one in capsules])
    return np.array([
        min((end[:, 2] - radius).min() for end in segments(*ik.forward(skeleton, one.pose), skeleton, capsules))
        for one in solutions
    ])  # fmt: skip


def _largest_step(solutions):
    rotations = np.array([one.pose.rotations for one in solutions])
    return np.degrees(2.0 * np.arccos(np.clip(np.abs((rotations[1:] * rotations[:-1]).sum(-1)), 0.0, 1.0))).max()


@pytest.mark.compiled
def test_nothing_overlaps_on_a_motion_that_leads_hands_through_the_body(solved):
    skeleton, capsules, _, free, kept = solved
    assert _deepest(skeleton, capsules, free).max() > 0.05
    assert _lowest(skeleton, capsules, free).min() < -0.02
    assert _deepest(skeleton, capsules, kept).max() < 2e-3
    assert _lowest(skeleton, capsules, kept).min() > -5e-4
    assert max(one.overlap for one in kept) < 2e-3


@pytest.mark.compiled
def test_no_joint_jumps_where_contact_begins(solved):
    *_, free, kept = solved
    assert _largest_step(kept) < max(15.0, 1.2 * _largest_step(free))


@pytest.mark.compiled
def test_frames_without_overlap_stay_to_the_bit(solved):
    skeleton, capsules, contacts, *_ = solved
    places = motion(FRAMES)[:20]
    places[:, 1:3] = np.array([[0.45, 0.3, 1.3], [-0.45, 0.35, 1.25]]) + 0.2 * (places[:, 1:3] - places[:1, 1:3])
    places[:, 3:, 2] = 0.3
    free, kept = (ik.solve_frames(skeleton, goals(), places, options=AFRESH, contacts=one) for one in (None, contacts))
    assert (_deepest(skeleton, capsules, free) < 1e-5).all()
    assert (_lowest(skeleton, capsules, free) > 1e-3).all()
    for one, other in zip(free, kept, strict=True):
        assert np.array_equal(one.pose.rotations, other.pose.rotations)
        assert np.array_equal(one.pose.translations, other.pose.translations)


@pytest.mark.compiled
def test_joints_stay_inside_their_limits(solved):
    skeleton, *_, kept = solved
    space = JointSpace(skeleton, np.ones(len(skeleton), dtype=bool))
    for one in kept:
        x = ik.angles_from_pose(skeleton, one.pose)
        assert np.isfinite(x).all()
        for joint, rotation in zip(skeleton.joints, one.pose.rotations, strict=True):
            if isinstance(joint.limits, ik.TwistSwing):
                twist = 2.0 * np.arctan2(rotation[2], rotation[0])
                assert joint.limits.twist[0] - 1e-9 <= twist <= joint.limits.twist[1] + 1e-9
    states = [space.state(one.pose).rotations[0] for one in kept]
    assert max(np.abs(a - one.pose.rotations).max() for a, one in zip(states, kept, strict=True)) < 1e-9


@pytest.mark.compiled
@pytest.mark.parametrize("corrects", [False, True])
def test_a_whole_clip_keeps_apart_too_and_moves_smoothly(solved, corrects):
    """More so than frame by frame, and hands come about as near to targets in the body."""
    skeleton, capsules, contacts, free, kept = solved
    some = slice(0, 26)  # on which hands go through the body
    places, free, kept = motion(FRAMES)[some], free[some], kept[some]
    reference = ik.Pose(*(np.stack([part] * len(places)) for part in free[0].pose)) if corrects else None
    before, clip = (ik.solve_clip(skeleton, goals(), places, reference=reference, contacts=one)
                    for one in (None, contacts))  # fmt: skip
    assert _deepest(skeleton, capsules, before).max() > 0.03
    assert _deepest(skeleton, capsules, clip).max() < 2e-3
    assert max(one.overlap for one in clip) < 2e-3
    assert _lowest(skeleton, capsules, clip).min() > -5e-4
    assert _largest_step(clip) < _largest_step(kept)
    misses = np.array([[one.position_errors for one in way] for way in (kept, clip)])
    assert (misses[1] <= misses[0] + 0.012).all()


@pytest.mark.compiled
def test_a_frame_alone_is_that_of_the_batch_to_the_bit(solved):
    skeleton, _, contacts, _, kept = solved
    places = motion(FRAMES)
    prepared = ik.prepare(skeleton, goals(), options=AFRESH, contacts=contacts)
    for frame in (0, 17, 40, 63):
        assert np.array_equal(prepared(places[frame]).pose.rotations, kept[frame].pose.rotations)


def test_a_figure_that_leans_on_itself_does_not_tremble():
    skeleton, capsules = person()
    prepared = ik.prepare(skeleton, goals(), options=AFRESH, contacts=ik.Contacts(capsules, [ik.Plane()]))
    places = motion(FRAMES)[40]
    places[1] = 0.05, 0.1, 1.15
    places[2] = -0.08, 0.12, 1.2
    first = prepared(places)
    again, near = prepared(places), prepared(places + 1e-9)
    assert first.overlap < 2e-3
    assert np.array_equal(first.pose.rotations, again.pose.rotations)
    assert np.abs(first.pose.rotations - near.pose.rotations).max() < 1e-6


def test_a_capsule_stays_out_of_a_box_that_moves():
    skeleton = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("fore", 0, "ball", (0, 1, 0)),
                            ik.Joint("tip", 1, "fixed", (0, 1, 0))])  # fmt: skip
    capsules = [ik.Capsule("arm", (0, 0, 0), (0, 1, 0), 0.05), ik.Capsule("fore", (0, 0, 0), (0, 1, 0), 0.05)]
    turned = quaternion.exp(np.array([0.3, 0.2, 0.5]))
    boxes = [ik.Box((0.2 * step, 1.6, 0.1), (0.3, 0.2, 0.4), turned) for step in range(3)]
    places = np.tile([[0.3, 1.6, 0.1]], (3, 1, 1))
    solved = ik.solve_frames(
        skeleton, [ik.Goal("tip", position=(0, 0, 0))], places, options=AFRESH,
        contacts=ik.Contacts(capsules, boxes[:1]), points=np.array([box.points() for box in boxes]),
    )  # fmt: skip
    for box, one in zip(boxes, solved, strict=True):
        start, end = segments(*ik.forward(skeleton, one.pose), skeleton, capsules)
        points = start[:, None] + np.linspace(0.0, 1.0, 201)[:, None] * (end - start)[:, None]
        own = quaternion.rotate(quaternion.conjugate(turned), points - np.array(box.centre))
        away = np.linalg.norm(np.maximum(np.abs(own) - 0.5 * np.array(box.size), 0.0), axis=-1)
        assert away.min() > 0.05 - 2e-3


def test_closest_points_match_a_fine_search():
    generator = np.random.default_rng(3)
    p, q, r, s = generator.normal(size=(4, 200, 3))
    s[:20] = r[:20] + (q - p)[:20] * generator.normal(size=(20, 1))  # parallel
    q[20:25], s[25:30], q[30:32] = p[20:25], r[25:30], p[30:32]  # points
    s[30:32] = r[30:32]
    a, b = closest(p, q, r, s)
    share = np.linspace(0.0, 1.0, 401)[:, None]
    one, other = (x[:, None] + share * (y - x)[:, None] for x, y in ((p, q), (r, s)))
    for index in range(200):
        fine = np.linalg.norm(one[index][:, None] - other[index][None], axis=-1).min()
        assert -1e-9 < fine - np.linalg.norm(a[index] - b[index]) < 2e-3 * (1.0 + fine) + 1e-2


def test_boxes_are_as_far_away_as_they_are():
    """The distance outside by the nearest point of the box, inside by the nearest face."""
    generator = np.random.default_rng(4)
    points, half = generator.normal(size=(300, 3)), np.array([0.4, 0.7, 1.1])
    box = ik.Box((0, 0, 0), 2.0 * half)
    found = nearest(CUBE, placed(CUBE, box.points()[None]), points[None], points[None], closest)
    outside = np.linalg.norm(points - np.clip(points, -half, half), axis=-1)
    inside = (np.abs(points) - half).max(-1)
    assert np.allclose(found.distance[0], np.where(inside > 0.0, outside, inside))
    assert (inside < 0.0).sum() > 10


def test_the_gaps_jacobian_is_that_of_differences():
    skeleton, capsules = person()
    space = JointSpace(skeleton, np.ones(len(skeleton), dtype=bool))
    box = ik.Box((0.3, 0.4, 1.0), (0.2, 0.3, 0.5), (0.9, 0.1, 0.3, 0.2))
    wedge = ik.Convex(WEDGE + np.array([0.2, 0.1, 1.1]), WEDGE_FACES)
    contacts = ik.Contacts(capsules, [ik.Plane((0, 0, 0.02), (0.1, 0, 1)), box, wedge])
    gaps = ContactGaps(skeleton, space, contacts)
    tasks = Tasks(skeleton, [], space, np.zeros((0, len(skeleton)), dtype=bool))
    none = np.zeros((1, 0, 3))
    targets = Targets(none, np.zeros((1, 0, 4)), none, points=contacts.points()[None])
    generator, step = np.random.default_rng(5), 1e-6
    state, deepest = space.state(skeleton.rest_pose()), np.inf
    for _ in range(5):
        state = space.step(state, space.project(state.x + 0.1 * generator.normal(size=state.x.shape)) - state.x)
        kinematics = tasks.kinematics(state, None)
        gap = gaps.at(kinematics, targets)
        deepest = min(deepest, gap.gaps.min())
        own = gaps.jacobian(gap, tasks.columns(state, kinematics), kinematics)[0]
        for freedom in range(space.n):
            ends = [gaps.at(tasks.kinematics(space.step(state, sign * step * np.eye(space.n)[[freedom]]), None),
                            targets).gaps[0] for sign in (1.0, -1.0)]  # fmt: skip
            assert np.abs((ends[0] - ends[1]) / (2.0 * step) - own[:, freedom]).max() < 2e-5
    assert deepest < -0.1, "some axes are inside"


def test_bad_bodies_are_named():
    arm = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0))])
    with pytest.raises(ik.InvalidOptions, match="radius"):
        ik.Contacts([ik.Capsule("arm", (0, 0, 0), (0, 1, 0), 0.0)])
    with pytest.raises(ik.InvalidOptions, match="contacts"):
        ik.prepare(arm, [ik.Goal("arm", rotation=(1, 0, 0, 0))], contacts="floor")
    with pytest.raises(ik.UnknownJoint, match="arm"):
        ik.prepare(arm, [ik.Goal("arm", rotation=(1, 0, 0, 0))],
                   contacts=ik.Contacts([ik.Capsule("leg", (0, 0, 0), (0, 1, 0), 0.1)]))  # fmt: skip


def _arm():
    skeleton = ik.Skeleton([ik.Joint("arm", -1, "ball", (0, 0, 0)), ik.Joint("fore", 0, "ball", (0, 1, 0)),
                            ik.Joint("tip", 1, "fixed", (0, 1, 0))])  # fmt: skip
    return skeleton, [ik.Capsule("arm", (0, 0, 0), (0, 1, 0), 0.05), ik.Capsule("fore", (0, 0, 0), (0, 1, 0), 0.05)]


@pytest.mark.parametrize("kernel", [True, False])
def test_a_hand_that_is_led_through_a_plate_stays_on_its_side_in_a_motion(kernel):
    """The plate is thinner than a frame's step."""
    skeleton, capsules = _arm()
    plate = ik.Box((0.9, 0.9, -0.3), (3.0, 3.0, 0.02))
    places = np.stack([np.full(40, 0.9), np.full(40, 0.9), np.linspace(0.0, -0.6, 40)], -1)[:, None]
    places[0, 0, 2] = 0.01
    contacts = ik.Contacts(capsules, [plate])
    prepared = ik.prepare(skeleton, [ik.Goal("tip", position=(0, 0, 0))], contacts=contacts)
    if not kernel:
        prepared.apart = getattr(prepared.apart, "numpy", prepared.apart)
    frames = prepared.arrays(40)
    frames.ask(prepared.targets(places), prepared.start(None))
    prepared.motion().solve_into(frames)
    tips = ik.forward(skeleton, ik.Pose(frames.rotations, frames.translations)).positions[:, 2, 2]
    assert tips[5] == pytest.approx(places[5, 0, 2], abs=1e-3)
    assert np.abs(tips[22:] - (-0.29 + 0.05)).max() < 2e-3


def test_a_hand_in_a_table_leaves_on_the_side_of_its_forearm():
    """The target is nearer to the table's lower face; the forearm comes from above."""
    skeleton, capsules = _arm()
    table = ik.Box((0.0, 1.2, -0.5), (2.0, 1.4, 0.1))
    contacts = ik.Contacts(capsules, [table])
    hand = ik.Skeleton([*skeleton.joints[:2], ik.Joint("hand", 1, "ball", (0, 1, 0)),
                        ik.Joint("tip", 2, "fixed", (0, 0.2, 0))])  # fmt: skip
    contacts = ik.Contacts([*capsules, ik.Capsule("hand", (0, 0, 0), (0, 0.2, 0), 0.04)], [table])
    solution = ik.solve(hand, [ik.Goal("tip", position=(0, 1.3, -0.52))], contacts=contacts)
    assert ik.solve(hand, [ik.Goal("tip", position=(0, 1.3, -0.52))]).converged
    assert solution.overlap < 1e-3
    assert ik.forward(hand, solution.pose).positions[2:, 2].min() > -0.45 + 0.04 - 1e-3


def test_a_motion_that_stands_still_does_not_drift():
    skeleton, capsules = person()
    prepared = ik.prepare(skeleton, goals(), contacts=ik.Contacts(capsules, [ik.Plane()]))
    places = motion(FRAMES)[[36, 37, 38, 39, 40, 40, 40, 40, 40, 40]]
    frames = prepared.arrays(len(places))
    frames.ask(prepared.targets(places), prepared.start(None))
    prepared.motion().solve_into(frames)
    assert np.array_equal(frames.rotations[-1], frames.rotations[-3])
    assert np.abs(frames.rotations[-1] - frames.rotations[4]).max() < 2e-2
    assert prepared.apart.overlaps(frames).max() < 2e-3


def test_a_hand_in_the_chest_misses_and_the_rest_of_the_body_stays():
    """The hips are only a wish, and would give way before the hand without contacts."""
    skeleton, capsules = person()
    rest = ik.forward(skeleton, skeleton.rest_pose()).positions
    wish = ik.Goal("hips", position=rest[skeleton.index("hips")], position_weight=0.3, priority=-1)
    places = np.concatenate([motion(2)[0], [wish.position]])
    places[0], places[1], places[2] = (0.0, 0.02, 1.62), (0.03, 0.06, 1.3), (-0.3, 0.25, 1.1)
    places[3:5, 2] = 0.12
    all_goals, contacts = [*goals(), wish], ik.Contacts(capsules)
    free, kept = (ik.prepare(skeleton, all_goals, options=AFRESH, contacts=one)(places) for one in (None, contacts))
    assert _deepest(skeleton, capsules, [free]) > 0.04
    assert kept.overlap < 1e-4
    moved = np.linalg.norm(
        np.diff([ik.forward(skeleton, one.pose).positions for one in (free, kept)], axis=0)[0], axis=-1
    )  # fmt: skip
    held = [skeleton.index(name) for name in ("hips", "head", "handR", "footL", "footR")]
    assert moved[held].max() < 0.02
    assert kept.position_errors[1] > 0.01
