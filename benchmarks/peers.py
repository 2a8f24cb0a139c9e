# SPDX-License-Identifier: GPL-3.0-or-later
"""Other libraries' solvers on the same workloads. All are optional; those that are installed take part.

Each makes its model from our skeleton, with a ball as three hinges, and takes whole steps: at most 200 iterations, or
100 if each solves a quadratic programme.
"""

import importlib.util
from collections.abc import Callable
from xml.sax.saxutils import quoteattr

import numpy as np
from contest import ITERATIONS, Refused
from peer import INSIDE, Peer
from scipy.spatial.transform import Rotation
from workload_suite import Workload

QP_ITERATIONS = 100
MOST_OF_PINOCCHIO = 400  # degrees of freedom: it keeps a tensor of their cube
LM_DAMPING = 1e-6
FAR = 1e4  # [rad or length units] a limit where a library wants one and there is none


class Pinocchio(Peer):
    """Levenberg-Marquardt in Python around Pinocchio's kinematics; limits by clamping after the step."""

    def build(self) -> None:
        """A model by its own functions, and an operational frame for every goal."""
        import pinocchio as pin

        tree = self.tree
        if len(tree) > MOST_OF_PINOCCHIO:
            raise Refused(f"its memory grows with the cube of the degrees of freedom; {MOST_OF_PINOCCHIO} at most here")
        self.pin, self.model = pin, pin.Model()
        ids: list[int] = []
        for i, name in enumerate(tree.names):
            kind = pin.JointModelPrismaticUnaligned if tree.slides[i] else pin.JointModelRevoluteUnaligned
            above = 0 if tree.parents[i] < 0 else ids[tree.parents[i]]
            ids.append(self.model.addJoint(above, kind(tree.axes[i]), pin.SE3(np.eye(3), tree.offsets[i]), name))
        self.order = np.array([self.model.joints[i].idx_q for i in ids])
        self.frames = [
            self.model.addFrame(pin.Frame(f"goal {g}", ids[tree.last[goal.joint]], 0,
                                          pin.SE3(np.eye(3), np.array(goal.offset, dtype=float)), pin.OP_FRAME))
            for g, goal in enumerate(self.workload.goals)
        ]  # fmt: skip
        self.data = self.model.createData()
        self.lo, self.hi = np.empty(len(tree)), np.empty(len(tree))
        self.lo[self.order], self.hi[self.order] = tree.lo, tree.hi

    def attempt(self, q: np.ndarray, places: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """Levenberg-Marquardt steps, with a damping that adapts to their success."""
        x, damping = np.empty(len(q)), 1e-2
        x[self.order] = q
        error, met = self._errors(x, places, turns)
        for iteration in range(ITERATIONS):
            if met or damping > 1e8:
                return x[self.order], iteration, met
            jacobian = self._jacobian(x)
            square = jacobian @ jacobian.T
            step = jacobian.T @ np.linalg.solve(square + damping * np.eye(len(square)), error)
            tried = np.clip(x + step, self.lo, self.hi)
            tried_error, tried_met = self._errors(tried, places, turns)
            if tried_error @ tried_error < error @ error:
                x, error, met, damping = tried, tried_error, tried_met, max(0.2 * damping, 1e-12)
            else:
                damping *= 6.0
        return x[self.order], ITERATIONS, met

    def _errors(self, x: np.ndarray, places: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, bool]:
        self.pin.forwardKinematics(self.model, self.data, x)
        self.pin.updateFramePlacements(self.model, self.data)
        rows, distances, angles = [], [], [0.0]
        for goal, frame, place, turn in zip(self.workload.goals, self.frames, places, turns, strict=True):
            now = self.data.oMf[frame]
            rows.append(place - now.translation)
            distances.append(np.linalg.norm(rows[-1]))
            if goal.rotation is not None:
                away = now.rotation @ self.pin.log3(now.rotation.T @ turn)
                angles.append(np.linalg.norm(away))
                rows.append(self.weight * away)
        return np.concatenate(rows), self.met(np.array(distances), np.array(angles))

    def _jacobian(self, x: np.ndarray) -> np.ndarray:
        self.pin.computeJointJacobians(self.model, self.data, x)
        rows = []
        for goal, frame in zip(self.workload.goals, self.frames, strict=True):
            columns = self.pin.getFrameJacobian(self.model, self.data, frame, self.pin.LOCAL_WORLD_ALIGNED)
            rows.append(columns[:3])
            if goal.rotation is not None:
                rows.append(self.weight * columns[3:])
        return np.concatenate(rows)


class Mink(Peer):
    """mink: a quadratic programme an iteration on MuJoCo's kinematics, solved by DAQP."""

    def build(self) -> None:
        """A model from a text in MuJoCo's own format."""
        import mink
        import mujoco

        if importlib.util.find_spec("daqp") is None:
            raise Refused("it wants a solver of quadratic programmes: pip install daqp")
        try:
            self.model = mujoco.MjModel.from_xml_string(self._text())
        except ValueError as error:
            raise Refused(f"MuJoCo does not load it: {error}".splitlines()[0]) from None
        self.mink, self.configuration = mink, mink.Configuration(self.model)
        self.address = np.array([self.model.joint(name).qposadr[0] for name in self.tree.names])
        self.tasks = [
            mink.FrameTask(f"goal {g}", "site", position_cost=1.0, lm_damping=LM_DAMPING,
                           orientation_cost=0.0 if goal.rotation is None else self.weight)
            for g, goal in enumerate(self.workload.goals)
        ]  # fmt: skip
        self.limits = [mink.ConfigurationLimit(self.model, gain=1.0)] if self.tree.limited.any() else []

    def _text(self) -> str:
        tree, below = self.tree, {i: [] for i in range(-1, len(self.tree))}
        for i, above in enumerate(tree.parents):
            below[int(above)].append(i)

        def body(i: int) -> str:
            text = f'<body pos="{_numbers(tree.offsets[i])}"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
            while True:
                limits = f' range="{tree.lo[i]!r} {tree.hi[i]!r}"'.replace("np.float64(", "").replace(")", "")
                text += (
                    f'<joint name={quoteattr(tree.names[i])} type="{"slide" if tree.slides[i] else "hinge"}"'
                    f' axis="{_numbers(tree.axes[i])}"{limits if tree.limited[i] else ""}/>'
                )
                only = below[i][0] if len(below[i]) == 1 else -1
                if only < 0 or i in tree.last or tree.offsets[only].any():
                    break
                i = only  # a ball's next hinge, in the same body
            for g, goal in enumerate(self.workload.goals):
                if tree.last[goal.joint] == i:
                    text += f'<site name="goal {g}" pos="{_numbers(goal.offset)}"/>'
            return text + "".join(map(body, below[i])) + "</body>"

        bodies = "".join(map(body, below[-1]))
        return f'<mujoco><compiler angle="radian"/><worldbody>{bodies}</worldbody></mujoco>'

    def attempt(self, q: np.ndarray, places: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """Whole steps until the tasks are met."""
        mink, rotated = self.mink, [goal.rotation is not None for goal in self.workload.goals]
        x = np.zeros(self.model.nq)
        x[self.address] = q
        self.configuration.update(x)
        for task, place, turn in zip(self.tasks, places, turns, strict=True):
            task.set_target(mink.SE3.from_rotation_and_translation(mink.SO3.from_matrix(turn), place))
        for iteration in range(QP_ITERATIONS + 1):
            errors = np.array([task.compute_error(self.configuration) for task in self.tasks])
            met = self.met(np.linalg.norm(errors[:, :3], axis=-1), np.linalg.norm(errors[rotated, 3:], axis=-1))
            if met or iteration == QP_ITERATIONS:
                break
            try:
                v = mink.solve_ik(self.configuration, self.tasks, 1.0, "daqp", limits=self.limits)
            except mink.MinkError:  # the programme had no solution
                break
            self.configuration.integrate_inplace(v, 1.0)
        return np.array(self.configuration.q)[self.address], iteration, met


class Placo(Peer):
    """placo: a quadratic programme an iteration on Pinocchio's kinematics."""

    def build(self) -> None:
        """A model from a text in URDF."""
        import placo

        tree = self.tree
        if len(tree) > MOST_OF_PINOCCHIO:
            raise Refused(f"its memory grows with the cube of the degrees of freedom; {MOST_OF_PINOCCHIO} at most here")
        flags = int(placo.Flags.ignore_collisions)
        self.robot = placo.RobotWrapper("", flags, self._text())
        self.solver = placo.KinematicsSolver(self.robot)
        self.solver.mask_fbase(True)
        self.solver.enable_joint_limits(bool(tree.limited.any()))
        self.address = np.array([self.robot.get_joint_offset(name) for name in tree.names])
        self.tasks = []
        for g, goal in enumerate(self.workload.goals):
            if goal.rotation is None:
                self.tasks.append(self.solver.add_position_task(f"goal_{g}", np.zeros(3)))
                self.tasks[-1].configure(f"goal_{g}", "soft", 1.0)
            else:
                self.tasks.append(self.solver.add_frame_task(f"goal_{g}", np.eye(4)))
                self.tasks[-1].configure(f"goal_{g}", "soft", 1.0, self.weight)

    def _text(self) -> str:
        tree = self.tree
        mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        text = f'<link name="root">{mass}</link>'
        for i, name in enumerate(tree.names):
            above = "root" if tree.parents[i] < 0 else f"link_{tree.names[tree.parents[i]]}"
            lo, hi = max(tree.lo[i], -FAR), min(tree.hi[i], FAR)
            text += (
                f'<link name="link_{name}">{mass}</link>'
                f'<joint name="{name}" type="{"prismatic" if tree.slides[i] else "revolute"}">'
                f'<parent link="{above}"/><child link="link_{name}"/><origin xyz="{_numbers(tree.offsets[i])}"/>'
                f'<axis xyz="{_numbers(tree.axes[i])}"/><limit lower="{lo}" upper="{hi}" effort="1" velocity="1"/>'
                "</joint>"
            )
        for g, goal in enumerate(self.workload.goals):
            text += (
                f'<link name="goal_{g}">{mass}</link><joint name="at_goal_{g}" type="fixed"><origin '
                f'xyz="{_numbers(goal.offset)}"/><parent link="link_{tree.names[tree.last[goal.joint]]}"/>'
                f'<child link="goal_{g}"/></joint>'
            )
        return f'<robot name="figure">{text}</robot>'

    def attempt(self, q: np.ndarray, places: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """Whole steps until the tasks are met."""
        self.robot.state.q[self.address] = q
        self.robot.update_kinematics()
        goals = self.workload.goals
        for goal, task, place, turn in zip(goals, self.tasks, places, turns, strict=True):
            if goal.rotation is None:
                task.target_world = place
            else:
                task.T_world_frame = np.block([[turn, place[:, None]], [np.zeros(3), 1.0]])
        for iteration in range(QP_ITERATIONS + 1):
            met = self._met(places, turns)
            if met or iteration == QP_ITERATIONS:
                break
            try:
                self.solver.solve(True)
            except RuntimeError:  # the programme had no solution
                break
            self.robot.update_kinematics()
        return np.array(self.robot.state.q)[self.address], iteration, met

    def _met(self, places: np.ndarray, turns: np.ndarray) -> bool:
        now = np.array([self.robot.get_T_world_frame(f"goal_{g}") for g in range(len(places))])
        rotated = [goal.rotation is not None for goal in self.workload.goals]
        traces = np.einsum("gij,gij->g", now[rotated, :3, :3], turns[rotated])
        angles = np.arccos(np.clip(0.5 * (traces - 1.0), -1.0, 1.0))
        return self.met(np.linalg.norm(now[:, :3, 3] - places, axis=-1), angles)


class RoboticsToolbox(Peer):
    """The Robotics Toolbox's Levenberg-Marquardt in C++, Chan's damping; rejects answers outside the limits."""

    restarts_itself = True

    def build(self) -> None:
        """A chain of elementary transforms."""
        from roboticstoolbox import ET, ETS

        tree, goal = self.tree, self.workload.goals[0]
        chain = []
        for i in tree.path(goal.joint):
            chain += [move(x) for move, x in zip((ET.tx, ET.ty, ET.tz), tree.offsets[i], strict=True) if x]
            along = int(np.argmax(np.abs(tree.axes[i])))
            limits = [tree.lo[i], tree.hi[i]] if tree.limited[i] else [-FAR, FAR]
            chain.append((ET.Rx, ET.Ry, ET.Rz)[along](flip=bool(tree.axes[i, along] < 0), qlim=limits))
        chain += [move(x) for move, x in zip((ET.tx, ET.ty, ET.tz), goal.offset, strict=True) if x]
        self.chain = ETS(chain)
        turned = goal.rotation is not None
        weight = (self.workload.tolerance / self.workload.rotation_tolerance) ** 2
        self.mask = np.array([1.0] * 3 + [weight if turned else 0.0] * 3)

    def attempt(self, q: np.ndarray, places: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """Its own search; its residual is half of the weighted squares."""
        target = np.block([[turns[0], places[0][:, None]], [np.zeros(3), 1.0]])
        found = self.chain.ik_LM(
            target, q0=q, ilimit=ITERATIONS, slimit=self.workload.restarts + 1, joint_limits=True, mask=self.mask,
            tol=0.5 * (INSIDE * self.workload.tolerance) ** 2,
        )  # fmt: skip
        return np.asarray(found.q), float(found.iterations), bool(found.success)


class IKPy(Peer):
    """ikpy: SciPy's bounded least squares around its own kinematics; it does not say how many iterations it took."""

    def build(self) -> None:
        """A chain of links."""
        from ikpy.chain import Chain
        from ikpy.link import OriginLink, URDFLink

        tree, goal = self.tree, self.workload.goals[0]
        links = [OriginLink()]
        for i in tree.path(goal.joint):
            bounds = (tree.lo[i], tree.hi[i])
            links.append(URDFLink(tree.names[i], tree.offsets[i], np.zeros(3), rotation=tree.axes[i], bounds=bounds))
        links.append(URDFLink("tip", np.array(goal.offset, dtype=float), np.zeros(3), joint_type="fixed"))
        self.chain = Chain(links, active_links_mask=[False, *[True] * len(tree), False])
        self.mode = None if goal.rotation is None else "all"

    def attempt(self, q: np.ndarray, places: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, None, bool]:
        """Its own search."""
        target = np.block([[turns[0], places[0][:, None]], [np.zeros(3), 1.0]])
        x = self.chain.inverse_kinematics_frame(target, initial_position=[0.0, *q, 0.0], orientation_mode=self.mode)
        now = self.chain.forward_kinematics(x)
        angle = 0.0 if self.mode is None else Rotation.from_matrix(now[:3, :3].T @ turns[0]).magnitude()
        return x[1:-1], None, self.met(np.linalg.norm(now[:3, 3] - places[0]), np.array(angle))


def _numbers(values: object) -> str:
    return " ".join(f"{x:.17g}" for x in values)


PEERS: dict[str, tuple[Callable[[Workload], Peer], str, str]] = {
    "pinocchio, LM": (Pinocchio, "pinocchio", "pin"),
    "mink": (Mink, "mink", "mink daqp"),
    "placo": (Placo, "placo", "placo"),
    "rtb ik_LM": (RoboticsToolbox, "roboticstoolbox", "roboticstoolbox-python"),
    "ikpy": (IKPy, "ikpy", "ikpy"),
}
"""Names, how each is entered for a workload, the module it needs and what pip calls it."""


def installed() -> dict[str, Callable[[Workload], Peer]]:
    """The installed libraries; prints the others in a line, with the command that installs them."""
    missing = {name: pip for name, (_, module, pip) in PEERS.items() if importlib.util.find_spec(module) is None}
    if missing:
        print(f"not here: {'; '.join(missing)} (pip install {' '.join(missing.values())})", flush=True)
    return {name: enter for name, (enter, _, _) in PEERS.items() if name not in missing}
