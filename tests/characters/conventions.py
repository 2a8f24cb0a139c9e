# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs as people have them: names, hierarchy and proportions by convention, with the roles of bones written by hand.

A line of a table is `joint = name : role`, indented by a space for each level below its parent; ` / ` goes on with the
joint below. A role that is the joint's own word is left out. `{}` in a name stands for a side, and the bone exists on
both. A joint is one of `bodies`, or `a~b` for the middle between two. A bone without a role has `-`, and a bone whose
role does not matter has `?`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Character:
    """A convention.

    name : of the character. table : its bones. sides : words for left and right. axes : where the bones' own axes
    point, `along` the limbs with Y, with `x` along them, or as the `world`'s. arms : how far the arms hang down at
    rest, in degrees. facing : of the figure, in degrees about Z from -Y. unit : scale of the armature's own units.
    turned : the object stands under a scaled and turned parent. body : whose joints it has. human : whether its limits
    are those of people. feet : how far the feet point down at rest, in degrees.
    """

    name: str
    table: str
    sides: tuple[str, str] = ("L", "R")
    axes: str = "along"
    arms: float = 0.0
    facing: float = 0.0
    unit: float = 1.0
    turned: bool = False
    body: str = "human"
    human: bool = True
    feet: float = 0.0

    def __post_init__(self) -> None:
        """Write each bone of the table in a line of its own, with its role."""
        whole = []
        for line in self.table.strip("\n").splitlines():
            depth = len(line) - len(line.lstrip(" "))
            for below, bone in enumerate(line.strip().split(" / ")):
                role = "" if " : " in bone else f" : {bone.split(' = ')[0].rstrip('0123456789')}"
                whole.append(" " * (depth + below) + bone + role)
        object.__setattr__(self, "table", "\n".join(whole))


_FINGERS = ("thumb", "index", "middle", "ring", "little")


def fingers(depth: int, pattern: str, names: tuple[str, ...] = _FINGERS, first: int = 1, parts: int = 3) -> str:
    """Lines of five fingers with three bones each; `pattern` holds `{finger}`, `{part}` and `{{}}` for the side."""
    lines = []
    for finger, name in zip(_FINGERS, names, strict=True):
        for part in range(parts):
            bone = pattern.format(finger=name, part=part + first)
            lines.append(f"{' ' * (depth + part)}{finger}{part + 1} = {bone} : finger")
    return "\n".join(lines)


_SPINES = {1: ("spine1",), 2: ("spine1", "spine3"), 3: ("spine1", "spine2", "spine3"),
           4: ("spine1", "spine2", "spine3", "spine4")}  # fmt: skip


def usual(words: str, spines: dict[int, tuple[str, ...]] = _SPINES) -> str:
    """The table of the usual hierarchy, from its names with ` | ` between, and `-` for no bone.

    They are those of root, hips, spine bones with commas, neck and head, then of collar, arm, forearm and hand, then
    of thigh, shin, foot and toes. spines : the joints of so many spine bones.
    """
    root, hips, spine, *others = (part.strip() for part in words.split(" | "))
    bones = spine.split(", ")
    low = [("root", root, "-")] * (root != "-") + [("pelvis", hips, "hips")]
    trunk = [*low, *((joint, bone, "spine") for joint, bone in zip(spines[len(bones)], bones, strict=True))]
    rows, chest = [*enumerate(trunk)], len(trunk)
    for depth, parts in ((chest, ("neck", "head")), (chest, ("collar", "arm", "forearm", "hand")),
                         (len(low), ("thigh", "shin", "foot", "toes"))):  # fmt: skip
        there = [(part, bone, part) for part in parts if (bone := others.pop(0)) != "-"]
        rows += enumerate(there, depth)
    return "\n".join(f"{' ' * depth}{joint} = {bone} : {role}" for depth, (joint, bone, role) in rows)


CHARACTERS = (
    Character("mixamo", f"""
pelvis = mixamorig:Hips : hips
 spine1 = mixamorig:Spine / spine2 = mixamorig:Spine1 / spine3 = mixamorig:Spine2
    neck = mixamorig:Neck / head = mixamorig:Head / crown = mixamorig:HeadTop_End : -
    collar = mixamorig:{{}}Shoulder / arm = mixamorig:{{}}Arm / forearm = mixamorig:{{}}ForeArm
       hand = mixamorig:{{}}Hand
{fingers(8, "mixamorig:{{}}Hand{finger}{part}", ("Thumb", "Index", "Middle", "Ring", "Pinky"))}
 thigh = mixamorig:{{}}UpLeg / shin = mixamorig:{{}}Leg / foot = mixamorig:{{}}Foot
    toes = mixamorig:{{}}ToeBase / toetip = mixamorig:{{}}Toe_End : -
""", ("Left", "Right"), unit=100.0),
    Character("vroid", f"""
root = Root : -
 pelvis = J_Bip_C_Hips : hips
  spine1 = J_Bip_C_Spine / spine2 = J_Bip_C_Chest / spine3 = J_Bip_C_UpperChest
     breast = J_Sec_{{}}_Bust1 : -
     neck = J_Bip_C_Neck / head = J_Bip_C_Head
       eye = J_Adj_{{}}_FaceEye : -
       hair = J_Sec_Hair1_01 : - / hair2 = J_Sec_Hair2_01 : - / hair3 = J_Sec_Hair3_01 : -
     collar = J_Bip_{{}}_Shoulder / arm = J_Bip_{{}}_UpperArm / forearm = J_Bip_{{}}_LowerArm
        hand = J_Bip_{{}}_Hand
{fingers(9, "J_Bip_{{}}_{finger}{part}", ("Thumb", "Index", "Middle", "Ring", "Little"))}
  thigh = J_Bip_{{}}_UpperLeg / skirt = J_Sec_{{}}_SkirtBack0_01 : - / skirt2 = J_Sec_{{}}_SkirtBack1_01 : -
   shin = J_Bip_{{}}_LowerLeg / foot = J_Bip_{{}}_Foot / toes = J_Bip_{{}}_ToeBase
""", axes="world", facing=180.0),
    Character("unreal", f"""
root = root : -
 pelvis = pelvis : hips
  spine1 = spine_01 / spine2 = spine_02 / spine3 = spine_03
     neck = neck_01 / head = head
     collar = clavicle_{{}} / arm = upperarm_{{}} / arm~forearm = upperarm_twist_01_{{}} : -
       forearm = lowerarm_{{}} / forearm~hand = lowerarm_twist_01_{{}} : -
        hand = hand_{{}}
{fingers(9, "{finger}_0{part}_{{}}", ("thumb", "index", "middle", "ring", "pinky"))}
  thigh = thigh_{{}} / thigh~shin = thigh_twist_01_{{}} : -
   shin = calf_{{}} / shin~foot = calf_twist_01_{{}} : -
    foot = foot_{{}} / toes = ball_{{}}
 root = ik_foot_root : -
  foot_ik = ik_foot_{{}} : -
 root = ik_hand_root : -
  hand_ik = ik_hand_{{}} : -
""", ("l", "r"), axes="x", arms=50.0, unit=100.0),
    Character("unity", usual("Armature | Hips | Spine, Chest | Neck | Head | "
                             "Shoulder.{} | Upper arm.{} | Lower arm.{} | Hand.{} | "
                             "Upper leg.{} | Lower leg.{} | Foot.{} | Toes.{}"), arms=40.0),
    Character("auto-rig pro", f"""
pelvis = root.x : hips
 spine1 = spine_01.x / spine2 = spine_02.x
   neck = neck.x / head = head.x
   collar = shoulder.{{}} / arm = arm_stretch.{{}} / arm~forearm = arm_twist.{{}} : -
     forearm = forearm_stretch.{{}} / forearm~hand = forearm_twist.{{}} : -
      hand = hand.{{}}
{fingers(7, "c_{finger}{part}.{{}}", ("thumb", "index", "middle", "ring", "pinky"))}
 thigh = thigh_stretch.{{}} / thigh~shin = thigh_twist.{{}} : -
  shin = leg_stretch.{{}} / shin~foot = leg_twist.{{}} : -
   foot = foot.{{}} / toes = toes_01.{{}}
""", ("l", "r"), arms=45.0),
    Character("advanced skeleton", f"""
pelvis = Root_M : hips / pelvis~spine1 = RootPart1_M : spine
  spine1 = Spine1_M / spine2 = Spine1Part1_M / spine3 = Chest_M
     neck = Neck_M / neck2 = NeckPart1_M / head = Head_M / crown = HeadEnd_M : -
        jaw = Jaw_M : -
     collar = Scapula_{{}} / arm = Shoulder_{{}} / arm~forearm = ShoulderPart1_{{}} : twist
        forearm = Elbow_{{}} / forearm~hand = ElbowPart1_{{}} : twist / hand = Wrist_{{}}
{fingers(11, "{finger}Finger{part}_{{}}", ("Thumb", "Index", "Middle", "Ring", "Pinky"))}
 thigh = Hip_{{}} / thigh~shin = HipPart1_{{}} : twist / shin = Knee_{{}} / foot = Ankle_{{}}
     toes = Toes_{{}} / toetip = ToesEnd_{{}} : -
""", axes="x"),
    Character("valve", f"""
pelvis = ValveBiped.Bip01_Pelvis : hips
 spine1 = ValveBiped.Bip01_Spine / spine2 = ValveBiped.Bip01_Spine1 / spine3 = ValveBiped.Bip01_Spine2
    spine4 = ValveBiped.Bip01_Spine4
     neck = ValveBiped.Bip01_Neck1 / head = ValveBiped.Bip01_Head1
     collar = ValveBiped.Bip01_{{}}_Clavicle / arm = ValveBiped.Bip01_{{}}_UpperArm
       arm~forearm = ValveBiped.Bip01_{{}}_Bicep : -
       forearm = ValveBiped.Bip01_{{}}_Forearm / forearm~hand = ValveBiped.Bip01_{{}}_Ulna : -
        hand = ValveBiped.Bip01_{{}}_Hand
{fingers(9, "ValveBiped.Bip01_{{}}_Finger{finger}{part}", ("0", "1", "2", "3", "4"), 0)}
         prop = ValveBiped.Anim_Attachment_{{}}H : -
 thigh = ValveBiped.Bip01_{{}}_Thigh / shin = ValveBiped.Bip01_{{}}_Calf / foot = ValveBiped.Bip01_{{}}_Foot
    toes = ValveBiped.Bip01_{{}}_Toe0
""", axes="x", unit=39.37),
    Character("biped", """
pelvis = Bip01 : ?
 pelvis = Bip01 Pelvis : ?
  spine1 = Bip01 Spine : ? / spine3 = Bip01 Spine1
    neck = Bip01 Neck / head = Bip01 Head / crown = Bip01 HeadNub : -
      hair = Bip01 Ponytail1 : - / hair2 = Bip01 Ponytail11 : -
     collar = Bip01 {} Clavicle / arm = Bip01 {} UpperArm / forearm = Bip01 {} Forearm / hand = Bip01 {} Hand
         index1 = Bip01 {} Finger0 : finger / index2 = Bip01 {} Finger01 : finger
           fingertip = Bip01 {} Finger0Nub : -
   thigh = Bip01 {} Thigh / shin = Bip01 {} Calf / foot = Bip01 {} Foot / toes = Bip01 {} Toe0
       toetip = Bip01 {} Toe0Nub : -
 root = Bip01 Footsteps : -
""", axes="x", arms=30.0),
    Character("xsens", usual("- | Pelvis | L5, L3, T12, T8 | Neck | Head | "
                             "{}Shoulder | {}UpperArm | {}ForeArm | {}Hand | {}UpperLeg | {}LowerLeg | {}Foot | {}Toe"),
              ("Left", "Right"), axes="world"),
    Character("motion builder", usual("- | Hips | Chest, Chest2, Chest3, Chest4 | Neck | Head | "
                                      "{}Collar | {}Shoulder | {}Elbow | {}Wrist | {}Hip | {}Knee | {}Ankle | {}Toe"),
              ("Left", "Right")),
    Character("rokoko", """
pelvis = Hips : hips
 spine1 = Spine1 / spine2 = Spine2 / spine3 = Spine3 / spine4 = Spine4
     neck = Neck / head = Head
     collar = {}Shoulder / arm = {}Arm / forearm = {}ForeArm / hand = {}Hand
         thumb1 = {}Finger1Metacarpal : finger / thumb2 = {}Finger1Proximal : finger
         index1 = {}Finger2Metacarpal : finger / index2 = {}Finger2Proximal : finger
 thigh = {}Thigh / shin = {}Shin / foot = {}Foot / toes = {}Toe / toetip = {}ToeTip : -
""", ("Left", "Right")),
    Character("perception neuron", """
pelvis = Hips : hips
 thigh = {}UpLeg / shin = {}Leg / foot = {}Foot
 spine1 = Spine / spine2 = Spine1 / spine3 = Spine2
    neck = Neck / neck2 = Neck1 / head = Head
    collar = {}Shoulder / arm = {}Arm / forearm = {}ForeArm / hand = {}Hand
        thumb1 = {}HandThumb1 : finger / thumb2 = {}HandThumb2 : finger
        palm = {}InHandIndex : finger
         index1 = {}HandIndex1 : finger / index2 = {}HandIndex2 : finger
""", ("Left", "Right"), axes="world", unit=100.0),
    Character("cmu", """
pelvis = Hips : hips
 pelvis = {0}HipJoint : hip_joint
  thigh = {1}UpLeg / shin = {1}Leg / foot = {1}Foot / toes = {1}ToeBase
 pelvis = LowerBack : spine / spine2 = Spine / spine3 = Spine1
    neck = Neck / neck2 = Neck1 / head = Head
    neck = {1}Shoulder : collar / arm = {1}Arm / forearm = {1}ForeArm / hand = {1}Hand
        palm = {1}FingerBase : ?
         index1 = {1}HandIndex1 : finger
        thumb1 = {0}Thumb : finger
""", ("L/Left", "R/Right"), unit=5.6),
    Character("acclaim", """
pelvis = root : hips
 hip = {}hipjoint : hip_joint
  thigh = {}femur / shin = {}tibia / foot = {}foot / toes = {}toes
 spine1 = lowerback / spine2 = upperback / spine3 = thorax
    neck = lowerneck / neck2 = upperneck / head = head
    collar = {}clavicle / arm = {}humerus / forearm = {}radius / hand = {}wrist
        palm = {}hand : ?
         index1 = {}fingers : finger
        thumb1 = {}thumb : finger
""", ("l", "r")),
    Character("bandai", usual("joint_Root | Hips | Spine, Chest | Neck | Head | "
                              "Shoulder_{} | UpperArm_{} | LowerArm_{} | Hand_{} | "
                              "UpperLeg_{} | LowerLeg_{} | Foot_{} | Toes_{}")),
    Character("makehuman", """
pelvis = root : hips
 spine1 = spine05 / spine2 = spine04 / spine3 = spine03 / spine4 = spine02
     breast = breast.{} : -
     spine4~neck = spine01 : spine
      neck = neck01 / neck2 = neck02 / head = head / jaw = jaw : -
         eye = eye.{} : -
      collar = clavicle.{} / collar~arm = shoulder01.{} : collar / arm = upperarm01.{}
         arm~forearm = upperarm02.{} : twist / forearm = lowerarm01.{} / forearm~hand = lowerarm02.{} : twist
            hand = wrist.{}
             thumb1 = finger1-1.{} : finger / thumb2 = finger1-2.{} : finger
             palm = metacarpal1.{} : ?
              index1 = finger2-1.{} : finger / index2 = finger2-2.{} : finger
 hip = pelvis.{} : hip_joint
  thigh = upperleg01.{} / thigh~shin = upperleg02.{} : twist / shin = lowerleg01.{}
     shin~foot = lowerleg02.{} : twist / foot = foot.{} / toes = toe1-1.{} : ?
       toes = toe2-1.{} : ?
""", arms=35.0),
    Character("mmd", """
root = 全ての親 : -
 pelvis = センター : ?
  pelvis = グルーブ : ?
   pelvis = 腰 : ?
    spine1 = 上半身 / spine2 = 上半身2
      neck = 首 / head = 頭
        eye = {}目 : -
      collar = {}肩P : ?
       collar = {}肩 / arm = {}肩C : collar / arm = {}腕 / arm~forearm = {}腕捩 : twist / forearm = {}ひじ
            forearm~hand = {}手捩 : twist / hand = {}手首
              thumb1 = {}親指０ : finger / thumb2 = {}親指１ : finger
              index1 = {}人指１ : finger / index2 = {}人指２ : finger
    pelvis = 下半身 : ?
     pelvis = 腰キャンセル{} : ?
      thigh = {}足 / shin = {}ひざ / foot = {}足首 / toes = {}つま先
      thigh = {}足D : - / shin = {}ひざD : - / foot = {}足首D : - / toes = {}足先EX : -
 root = {}足IK親 : -
  foot_ik = {}足ＩＫ : - / toes = {}つま先ＩＫ : -
""", ("左", "右"), arms=38.0, unit=12.5),
    Character("mmd in Blender", """
root = 全ての親 : -
 pelvis = センター : ?
  spine1 = 上半身 / spine2 = 上半身2
    neck = 首 / head = 頭
    collar = 肩.{} / arm = 腕.{} / forearm = ひじ.{} / hand = 手首.{}
        index1 = 人指１.{} : finger
  pelvis = 下半身 : ?
   thigh = 足.{} / shin = ひざ.{} / foot = 足首.{} / toes = つま先.{}
 foot_ik = 足ＩＫ.{} : - / toes = つま先ＩＫ.{} : -
""", arms=38.0),
    Character("roblox", usual("HumanoidRootNode | LowerTorso | UpperTorso | - | Head | "
                              "- | {}UpperArm | {}LowerArm | {}Hand | {}UpperLeg | {}LowerLeg | {}Foot | -"),
              ("Left", "Right"), arms=80.0),
    Character("daz", """
pelvis = hip : hips
 pelvis = pelvis : ?
  thigh = {}ThighBend / thigh~shin = {}ThighTwist : twist / shin = {}Shin / foot = {}Foot
      toes = {}Metatarsals : ? / toes = {}Toe : ?
 spine1 = abdomenLower / spine2 = abdomenUpper / spine3 = chestLower / spine4 = chestUpper
     collar = {}Collar / arm = {}ShldrBend / arm~forearm = {}ShldrTwist : twist / forearm = {}ForearmBend
         forearm~hand = {}ForearmTwist : twist / hand = {}Hand
           index1 = {}Index1 : finger
     neck = neckLower / neck2 = neckUpper / head = head
""", ("l", "r")),
    Character("smpl", """
pelvis = Pelvis : hips
 thigh = {}_Hip / shin = {}_Knee / foot = {}_Ankle / toes = {}_Foot
 spine1 = Spine1 / spine2 = Spine2 / spine3 = Spine3
    neck = Neck / head = Head
    collar = {}_Collar / arm = {}_Shoulder / forearm = {}_Elbow / hand = {}_Wrist
        palm = {}_Hand : ?
""", axes="world"),
    Character("second life", """
pelvis = mPelvis : hips
 spine1 = mTorso / spine3 = mChest
   neck = mNeck / head = mHead / crown = mSkull : -
   collar = mCollar{} / arm = mShoulder{} / forearm = mElbow{} / hand = mWrist{}
       index1 = mHandIndex1{} : finger
 thigh = mHip{} / shin = mKnee{} / foot = mAnkle{} / toes = mFoot{} / toetip = mToe{} : ?
""", ("Left", "Right")),
    Character("character creator", """
root = CC_Base_BoneRoot : -
 pelvis = CC_Base_Hip : hips
  pelvis = CC_Base_Pelvis : ?
   thigh = CC_Base_{}_Thigh / thigh~shin = CC_Base_{}_ThighTwist01 : -
    shin = CC_Base_{}_Calf / shin~foot = CC_Base_{}_CalfTwist01 : -
     foot = CC_Base_{}_Foot / toes = CC_Base_{}_ToeBase
  spine1 = CC_Base_Waist / spine2 = CC_Base_Spine01 / spine3 = CC_Base_Spine02
     neck = CC_Base_NeckTwist01 / neck2 = CC_Base_NeckTwist02 / head = CC_Base_Head
     collar = CC_Base_{}_Clavicle / arm = CC_Base_{}_Upperarm / arm~forearm = CC_Base_{}_UpperarmTwist01 : -
       forearm = CC_Base_{}_Forearm / forearm~hand = CC_Base_{}_ForearmTwist01 : -
        hand = CC_Base_{}_Hand
         index1 = CC_Base_{}_Index1 : finger
""", axes="x", arms=45.0, unit=100.0),
    Character("prefixed", usual("b_root | b_hips | b_spine0, b_spine1 | b_neck | b_head | "
                                "b_{}_shoulder | b_{}_arm | b_{}_forearm | b_{}_hand | "
                                "b_{}_upleg | b_{}_leg | b_{}_foot | b_{}_toe"), ("l", "r"), axes="world", arms=60.0),
    Character("words run together", usual("- | hips | lowerspine, upperspine | neck | head | "
                                          "{}collarbone | {}upperarm | {}lowerarm | {}hand | "
                                          "{}upperleg | {}lowerleg | {}foot | {}toes"), ("Left", "Right"), facing=90.0),
    Character("parts first", """
pelvis = body_lower : hips
 spine1 = body_upper / head = head
  arm = arm_upper.{} / forearm = arm_lower.{} / hand = hand.{}
 thigh = leg_upper.{} / shin = leg_lower.{} / foot = foot.{}
knee_pole = knee.{} : -
elbow_pole = elbow.{} : -
""", feet=60.0),
    Character("no names", usual("- | Bone | Bone.001, Bone.002 | Bone.003 | Bone.004 | "
                                "Bone.005 Bone.006 | Bone.007 Bone.008 | Bone.009 Bone.010 | Bone.011 Bone.012 | "
                                "Bone.013 Bone.014 | Bone.015 Bone.016 | Bone.017 Bone.018 | Bone.019 Bone.020"),
              ("001", "002")),
    Character("no names in centimetres", """
root = joint1 : -
 pelvis = joint2 : hips
  spine1 = joint3 / spine2 = joint4 / spine4 = joint5
     neck = joint6 / head = joint7
     collar = joint8 joint9 / arm = joint10 joint11 / forearm = joint12 joint13 / hand = joint14 joint15
         thumb1 = joint16 joint17 : finger / thumb2 = joint18 joint19 : finger
         index1 = joint20 joint21 : finger / index2 = joint22 joint23 : finger
         little1 = joint24 joint25 : finger / little2 = joint26 joint27 : finger
  thigh = joint28 joint29 / shin = joint30 joint31 / foot = joint32 joint33 / toes = joint34 joint35
      toetip = joint36 joint37 : ?
""", ("001", "002"), axes="world", arms=45.0, unit=100.0, turned=True, facing=180.0),
    Character("legs that end in IK bones", """
root = root : -
 pelvis = hip : hips
  spine1 = spine / spine3 = chest
    neck = neck / head = head
    collar = shoulder.{} / arm = upper_arm.{} / forearm = forearm.{} / hand = hand.{}
  thigh = thigh.{} / shin = shin.{}
 foot_ik = leg_ik.{} : - / foot = foot.{} : ?
 knee_pole = knee.{} : -
"""),
    Character("french with a weapon", """
pelvis = bassin : hips
 spine1 = colonne / spine3 = torse
   neck = cou / head = tete
   collar = clavicule_{} / arm = bras_{} / forearm = avant_bras_{} / hand = main_{} / blade = arme_{} : -
 thigh = cuisse_{} / shin = jambe_{} / foot = pied_{} / toes = orteils_{}
""", ("gauche", "droite")),
    Character("palms", """
pelvis = Hips : hips
 spine1 = Spine / spine3 = Chest
   neck = Neck / head = Head
   collar = Shoulder_{} / arm = UpperArm_{} / forearm = LowerArm_{} / hand = Palm_{}
       index1 = Index1_{} : finger / index2 = Index2_{} : finger
       thumb1 = Thumb1_{} : finger
 thigh = UpperLeg_{} / shin = LowerLeg_{} / foot = Foot_{} / toes = Toes_{}
"""),
    Character("arms without hands", usual("- | hips | spine, chest | neck | head | "
                                          "shoulder.{} | upper_arm.{} | forearm.{} | - | "
                                          "thigh.{} | shin.{} | foot.{} | toe.{}")),
    Character("arms up", usual("- | hips | spine, chest | neck | head | "
                               "shoulder.{} | upper_arm.{} | forearm.{} | hand.{} | "
                               "thigh.{} | shin.{} | foot.{} | toe.{}"), arms=-80.0, turned=True),
    Character("arms down", usual("- | Hips | Spine, Chest | Neck | Head | "
                                 "Clavicle {} | Arm {} | Elbow {} | Wrist {} | Thigh {} | Knee {} | Foot {} | Toes {}"),
              ("Left", "Right"), arms=82.0, axes="world", facing=-90.0, feet=70.0),
    Character("toon", """
root = Main : -
 pelvis = C_pelvis_JNT : hips
  spine1 = C_torso_low_JNT / spine3 = C_torso_high_JNT
    neck = C_neck_JNT / head = C_head_JNT
      eye = {}_eye_JNT : -
    collar = {}_girdle_JNT / arm = {}_shoulder_JNT / forearm = {}_elbow_JNT / hand = {}_wrist_JNT
  thigh = {}_hip_JNT / shin = {}_knee_JNT / foot = {}_ankle_JNT / toes = {}_ball_JNT
""", unit=100.0, facing=37.0, axes="x", arms=40.0, body="toon"),
    Character("sleepwalker", usual("- | Bassin | Colonne 1, Colonne 2, Colonne 3 | Cou | Tete | "
                                   "Clavicule {} | Bras {} | AvantBras {} | Main {} | "
                                   "Cuisse {} | Jambe {} | Pied {} | Orteils {}"),
              ("G", "D"), axes="world", facing=200.0, turned=True, body="sleepwalker"),
    Character("gorilla", usual("- | hip | abdomen, chest | neck | head | "
                               "- | {}upperarm | {}lowerarm | {}hand | {}upperleg | {}lowerleg | {}foot | -"),
              ("l_", "r_"), unit=0.01, arms=60.0, facing=-60.0, body="gorilla"),
    Character("dog", """
root = root : -
 pelvis = pelvis : hips
  spine1 = spine_01 / spine2 = spine_02 / chest = chest : spine
     neck = neck_01 / neck2 = neck_02 / head = head / muzzle = jaw : -
        ear = ear.{} : -
     collar = scapula.{} / arm = front_upper_leg.{} / forearm = front_lower_leg.{} / hand = front_foot.{}
         fingers = front_toes.{} : ?
  thigh = back_thigh.{} / shin = back_shin.{} / foot = back_foot.{} / toes = back_toes.{}
  tail1 = tail_01 : - / tail2 = tail_02 : - / tail3 = tail_03 : -
""", body="dog", human=False),
    Character("horse with human names", """
pelvis = Hips : hips
 spine1 = Spine / spine2 = Spine1 / chest = Spine2 : spine
    neck = Neck / neck2 = Neck1 / head = Head
    collar = {}Shoulder / arm = {}Arm / forearm = {}ForeArm / hand = {}Hand / fingers = {}HandIndex1 : ?
 thigh = {}UpLeg / shin = {}Leg / foot = {}Foot / toes = {}ToeBase
 tail1 = Tail : - / tail2 = Tail1 : -
""", ("Left", "Right"), body="dog", human=False),
    Character("bird", """
root = root : -
 pelvis = hips : hips / chest = chest : spine
   neck = neck / neck2 = neck.001 / head = head / beak = beak : -
   arm = wing_upper.{} / forearm = wing_lower.{} / hand = wing_hand.{}
  thigh = thigh.{} / shin = shin.{} / foot = foot.{} / toes = toes.{}
  tail1 = tail : - / tail2 = tail.001 : -
""", body="bird", human=False),
    Character("german", """
root = Wurzel : -
 pelvis = Becken : hips
  spine1 = Bauch / spine3 = Brust
    neck = Hals / head = Kopf / braid = Zopf_{} : - / braid2 = Zopf2_{} : - / braid3 = Zopf3_{} : -
         braid4 = Zopf4_{} : -
    collar = Schlüsselbein_{} / arm = Oberarm_{} / forearm = Unterarm_{} / hand = Hand_{}
        prop = Schwert_{} : ? / blade = Klinge_{} : ?
  skirt = Rock_{} : - / skirt2 = Rock2_{} : -
  thigh = Oberschenkel_{} / shin = Unterschenkel_{} / foot = Fuß_{} / toes = Zehen_{}
""", ("links", "rechts"), arms=30.0, facing=180.0),
    Character("chinese", """
pelvis = 骨盆 : hips
 spine1 = 脊柱1 / spine3 = 脊柱2
   neck = 脖子 / head = 头
     hair = 头发 : - / hair2 = 头发2 : -
   collar = {}锁骨 / arm = {}上臂 / forearm = {}前臂 / hand = {}手
       index1 = {}食指 : finger
 thigh = {}大腿 / shin = {}小腿 / foot = {}脚 / toes = {}脚趾
""", ("左", "右"), body="child", arms=55.0, axes="x"),
    Character("spanish", """
root = base : -
 pelvis = cadera : hips
  spine1 = columna / spine3 = pecho / head = cabeza / jaw = mandíbula : -
    arm = brazo_{} / forearm = antebrazo_{} / hand = mano_{}
  thigh = muslo_{} / shin = pantorrilla_{} / foot = pie_{}
  tail1 = cola_1 : - / tail2 = cola_2 : - / tail3 = cola_3 : -
""", ("1", "2"), arms=65.0),
    Character("sides in the middle", """
pelvis = hips : hips
 spine1 = torso_lower / spine3 = torso_upper
   neck = neck / head = head
   collar = arm_{}_clav / arm = arm_{}_upper / forearm = arm_{}_lower / hand = arm_{}_hand
 thigh = leg_{}_upper / shin = leg_{}_lower / foot = leg_{}_foot / toes = leg_{}_toe
   shin~foot = holster_{} : -
""", ("l", "r"), arms=30.0),
    Character("winged", """
pelvis = Hips : hips
 spine1 = Spine / spine3 = Chest
   breast = Breast_{} : -
   wing = Wing_{} : - / wing2 = Wing_{}.001 : - / wing3 = Wing_{}.002 : - / wing4 = Wing_{}.003 : -
   neck = Neck / head = Head / ear = Ear_{} : -
     braid = TwinTail_{} : - / braid2 = TwinTail_{}.001 : - / braid3 = TwinTail_{}.002 : -
        braid4 = TwinTail_{}.003 : -
   collar = {} shoulder / arm = {} arm / forearm = {} elbow / hand = {} wrist
       index1 = IndexFinger1_{} : finger
 skirt = Skirt_{} : - / skirt2 = Skirt_{}.001 : -
 tail1 = Tail : - / tail2 = Tail.001 : - / tail3 = Tail.002 : -
 thigh = {} leg / shin = {} knee / foot = {} ankle / toes = {} toe
""", ("Left", "Right"), arms=40.0),
    Character("second life with volumes", """
pelvis = mPelvis : hips
 pelvis = PELVIS : -
 spine1 = mSpine1
  pelvis = mSpine2 : spine
   spine1 = mTorso / spine2 = BELLY : -
    spine3 = mSpine3
     spine1 = mSpine4 / spine3 = mChest / spine4 = CHEST : -
       neck = mNeck
        neck = NECK : -
        head = mHead / head = HEAD : -
         crown = mSkull : -
       collar = mCollar{0} / collar~arm = {1}_CLAVICLE : -
        arm = mShoulder{0} / arm~forearm = {1}_UPPER_ARM : -
         forearm = mElbow{0} / forearm~hand = {1}_LOWER_ARM : -
          hand = mWrist{0}
           palm = {1}_HAND : ?
           index1 = mHandIndex1{0} : finger
       wing = mWingsRoot : -
        wing = mWing1{0} : - / wing2 = mWing2{0} : - / wing3 = mWing3{0} : -
 tail1 = mTail1 : - / tail2 = mTail2 : -
 thigh = mHip{0} / thigh~shin = {1}_UPPER_LEG : -
  shin = mKnee{0} / shin~foot = {1}_LOWER_LEG : -
   foot = mAnkle{0} / foot~toes = {1}_FOOT : ?
    toes = mFoot{0} / toetip = mToe{0} : ?
""", ("Left/L", "Right/R"), facing=90.0),
    Character("twist bones in line", """
pelvis = hip : hips
 spine1 = abdomen / spine3 = chest
   neck = neck / head = head
   collar = {}_collar / arm = {}_uparm / arm~forearm = {}_uparm_twist : twist / forearm = {}_loarm
       forearm~hand = {}_loarm_twist : twist / hand = {}_hand / knuckle = {}_carpal : finger
          index1 = {}_index1 : finger
         thumb1 = {}_thumb1 : finger
 thigh = {}_upleg / thigh~shin = {}_upleg_twist : twist / shin = {}_loleg / foot = {}_foot / toes = {}_toe
""", ("l", "r"), arms=25.0),
    Character("no names horse", """
pelvis = Node_0 : hips
 spine1 = Node_1 / spine2 = Node_2 / chest = Node_3 : spine
    neck = Node_4 / neck2 = Node_5 / neck3 = Node_6 / head = Node_7 / muzzle = Node_8 : ?
    collar = Node_10 Node_20 / arm = Node_11 Node_21 / forearm = Node_12 Node_22 / hand = Node_13 Node_23
        fingers = Node_14 Node_24 : ? / fingertip = Node_15 Node_25 : ?
 thigh = Node_30 Node_40 / shin = Node_31 Node_41 / foot = Node_32 Node_42 / toes = Node_33 Node_43
     toetip = Node_34 Node_44 : ?
 tail1 = Node_50 : - / tail2 = Node_51 : - / tail3 = Node_52 : -
""", ("1", "2"), body="horse", human=False, facing=120.0),
    Character("german bird", """
root = Wurzel : -
 pelvis = Becken : hips / chest = Brust : spine
   neck = Hals / neck2 = Hals2 / head = Kopf / beak = Schnabel : -
   arm = Flügel1_{} / forearm = Flügel2_{} / hand = Flügel3_{}
  thigh = Oberschenkel_{} / shin = Unterschenkel_{} / foot = Lauf_{} / toes = Zehen_{}
  tail1 = Schwanz : - / tail2 = Schwanz2 : -
""", body="bird", human=False, facing=180.0),
)  # fmt: skip

BY_NAME = {character.name: character for character in CHARACTERS}
