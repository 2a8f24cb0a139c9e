# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs as people have them: names, hierarchy and proportions by convention, with the roles of bones written by hand.

A line of a table is `joint = name : role`, indented by a space for each level below its parent. `{}` in a name stands
for a side, and the bone exists on both. A joint is one of `bodies`, or `a~b` for the middle between two. A bone without
a role has `-`, and a bone whose role does not matter has `?`.
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


_FINGERS = ("thumb", "index", "middle", "ring", "little")


def _fingers(depth: int, pattern: str, names: tuple[str, ...] = _FINGERS, first: int = 1, parts: int = 3) -> str:
    """Lines of five fingers with three bones each; `pattern` holds `{finger}`, `{part}` and `{{}}` for the side."""
    lines = []
    for finger, name in zip(_FINGERS, names, strict=True):
        for part in range(parts):
            bone = pattern.format(finger=name, part=part + first)
            lines.append(f"{' ' * (depth + part)}{finger}{part + 1} = {bone} : finger")
    return "\n".join(lines)


CHARACTERS = (
    Character("mixamo", f"""
pelvis = mixamorig:Hips : hips
 spine1 = mixamorig:Spine : spine
  spine2 = mixamorig:Spine1 : spine
   spine3 = mixamorig:Spine2 : spine
    neck = mixamorig:Neck : neck
     head = mixamorig:Head : head
      crown = mixamorig:HeadTop_End : -
    collar = mixamorig:{{}}Shoulder : collar
     arm = mixamorig:{{}}Arm : arm
      forearm = mixamorig:{{}}ForeArm : forearm
       hand = mixamorig:{{}}Hand : hand
{_fingers(8, "mixamorig:{{}}Hand{finger}{part}", ("Thumb", "Index", "Middle", "Ring", "Pinky"))}
 thigh = mixamorig:{{}}UpLeg : thigh
  shin = mixamorig:{{}}Leg : shin
   foot = mixamorig:{{}}Foot : foot
    toes = mixamorig:{{}}ToeBase : toes
     toetip = mixamorig:{{}}Toe_End : -
""", ("Left", "Right"), unit=100.0),
    Character("vroid", f"""
root = Root : -
 pelvis = J_Bip_C_Hips : hips
  spine1 = J_Bip_C_Spine : spine
   spine2 = J_Bip_C_Chest : spine
    spine3 = J_Bip_C_UpperChest : spine
     breast = J_Sec_{{}}_Bust1 : -
     neck = J_Bip_C_Neck : neck
      head = J_Bip_C_Head : head
       eye = J_Adj_{{}}_FaceEye : -
       hair = J_Sec_Hair1_01 : -
        hair2 = J_Sec_Hair2_01 : -
         hair3 = J_Sec_Hair3_01 : -
     collar = J_Bip_{{}}_Shoulder : collar
      arm = J_Bip_{{}}_UpperArm : arm
       forearm = J_Bip_{{}}_LowerArm : forearm
        hand = J_Bip_{{}}_Hand : hand
{_fingers(9, "J_Bip_{{}}_{finger}{part}", ("Thumb", "Index", "Middle", "Ring", "Little"))}
  thigh = J_Bip_{{}}_UpperLeg : thigh
   skirt = J_Sec_{{}}_SkirtBack0_01 : -
    skirt2 = J_Sec_{{}}_SkirtBack1_01 : -
   shin = J_Bip_{{}}_LowerLeg : shin
    foot = J_Bip_{{}}_Foot : foot
     toes = J_Bip_{{}}_ToeBase : toes
""", axes="world", facing=180.0),
    Character("unreal", f"""
root = root : -
 pelvis = pelvis : hips
  spine1 = spine_01 : spine
   spine2 = spine_02 : spine
    spine3 = spine_03 : spine
     neck = neck_01 : neck
      head = head : head
     collar = clavicle_{{}} : collar
      arm = upperarm_{{}} : arm
       arm~forearm = upperarm_twist_01_{{}} : -
       forearm = lowerarm_{{}} : forearm
        forearm~hand = lowerarm_twist_01_{{}} : -
        hand = hand_{{}} : hand
{_fingers(9, "{finger}_0{part}_{{}}", ("thumb", "index", "middle", "ring", "pinky"))}
  thigh = thigh_{{}} : thigh
   thigh~shin = thigh_twist_01_{{}} : -
   shin = calf_{{}} : shin
    shin~foot = calf_twist_01_{{}} : -
    foot = foot_{{}} : foot
     toes = ball_{{}} : toes
 root = ik_foot_root : -
  foot_ik = ik_foot_{{}} : -
 root = ik_hand_root : -
  hand_ik = ik_hand_{{}} : -
""", ("l", "r"), axes="x", arms=50.0, unit=100.0),
    Character("unity", """
root = Armature : -
 pelvis = Hips : hips
  spine1 = Spine : spine
   spine3 = Chest : spine
    neck = Neck : neck
     head = Head : head
    collar = Shoulder.{} : collar
     arm = Upper arm.{} : arm
      forearm = Lower arm.{} : forearm
       hand = Hand.{} : hand
  thigh = Upper leg.{} : thigh
   shin = Lower leg.{} : shin
    foot = Foot.{} : foot
     toes = Toes.{} : toes
""", arms=40.0),
    Character("auto-rig pro", f"""
pelvis = root.x : hips
 spine1 = spine_01.x : spine
  spine2 = spine_02.x : spine
   neck = neck.x : neck
    head = head.x : head
   collar = shoulder.{{}} : collar
    arm = arm_stretch.{{}} : arm
     arm~forearm = arm_twist.{{}} : -
     forearm = forearm_stretch.{{}} : forearm
      forearm~hand = forearm_twist.{{}} : -
      hand = hand.{{}} : hand
{_fingers(7, "c_{finger}{part}.{{}}", ("thumb", "index", "middle", "ring", "pinky"))}
 thigh = thigh_stretch.{{}} : thigh
  thigh~shin = thigh_twist.{{}} : -
  shin = leg_stretch.{{}} : shin
   shin~foot = leg_twist.{{}} : -
   foot = foot.{{}} : foot
    toes = toes_01.{{}} : toes
""", ("l", "r"), arms=45.0),
    Character("advanced skeleton", f"""
pelvis = Root_M : hips
 pelvis~spine1 = RootPart1_M : spine
  spine1 = Spine1_M : spine
   spine2 = Spine1Part1_M : spine
    spine3 = Chest_M : spine
     neck = Neck_M : neck
      neck2 = NeckPart1_M : neck
       head = Head_M : head
        crown = HeadEnd_M : -
        jaw = Jaw_M : -
     collar = Scapula_{{}} : collar
      arm = Shoulder_{{}} : arm
       arm~forearm = ShoulderPart1_{{}} : twist
        forearm = Elbow_{{}} : forearm
         forearm~hand = ElbowPart1_{{}} : twist
          hand = Wrist_{{}} : hand
{_fingers(11, "{finger}Finger{part}_{{}}", ("Thumb", "Index", "Middle", "Ring", "Pinky"))}
 thigh = Hip_{{}} : thigh
  thigh~shin = HipPart1_{{}} : twist
   shin = Knee_{{}} : shin
    foot = Ankle_{{}} : foot
     toes = Toes_{{}} : toes
      toetip = ToesEnd_{{}} : -
""", axes="x"),
    Character("valve", f"""
pelvis = ValveBiped.Bip01_Pelvis : hips
 spine1 = ValveBiped.Bip01_Spine : spine
  spine2 = ValveBiped.Bip01_Spine1 : spine
   spine3 = ValveBiped.Bip01_Spine2 : spine
    spine4 = ValveBiped.Bip01_Spine4 : spine
     neck = ValveBiped.Bip01_Neck1 : neck
      head = ValveBiped.Bip01_Head1 : head
     collar = ValveBiped.Bip01_{{}}_Clavicle : collar
      arm = ValveBiped.Bip01_{{}}_UpperArm : arm
       arm~forearm = ValveBiped.Bip01_{{}}_Bicep : -
       forearm = ValveBiped.Bip01_{{}}_Forearm : forearm
        forearm~hand = ValveBiped.Bip01_{{}}_Ulna : -
        hand = ValveBiped.Bip01_{{}}_Hand : hand
{_fingers(9, "ValveBiped.Bip01_{{}}_Finger{finger}{part}", ("0", "1", "2", "3", "4"), 0)}
         prop = ValveBiped.Anim_Attachment_{{}}H : -
 thigh = ValveBiped.Bip01_{{}}_Thigh : thigh
  shin = ValveBiped.Bip01_{{}}_Calf : shin
   foot = ValveBiped.Bip01_{{}}_Foot : foot
    toes = ValveBiped.Bip01_{{}}_Toe0 : toes
""", axes="x", unit=39.37),
    Character("biped", """
pelvis = Bip01 : ?
 pelvis = Bip01 Pelvis : ?
  spine1 = Bip01 Spine : ?
   spine3 = Bip01 Spine1 : spine
    neck = Bip01 Neck : neck
     head = Bip01 Head : head
      crown = Bip01 HeadNub : -
      hair = Bip01 Ponytail1 : -
       hair2 = Bip01 Ponytail11 : -
     collar = Bip01 {} Clavicle : collar
      arm = Bip01 {} UpperArm : arm
       forearm = Bip01 {} Forearm : forearm
        hand = Bip01 {} Hand : hand
         index1 = Bip01 {} Finger0 : finger
          index2 = Bip01 {} Finger01 : finger
           fingertip = Bip01 {} Finger0Nub : -
   thigh = Bip01 {} Thigh : thigh
    shin = Bip01 {} Calf : shin
     foot = Bip01 {} Foot : foot
      toes = Bip01 {} Toe0 : toes
       toetip = Bip01 {} Toe0Nub : -
 root = Bip01 Footsteps : -
""", axes="x", arms=30.0),
    Character("xsens", """
pelvis = Pelvis : hips
 spine1 = L5 : spine
  spine2 = L3 : spine
   spine3 = T12 : spine
    spine4 = T8 : spine
     neck = Neck : neck
      head = Head : head
     collar = {}Shoulder : collar
      arm = {}UpperArm : arm
       forearm = {}ForeArm : forearm
        hand = {}Hand : hand
 thigh = {}UpperLeg : thigh
  shin = {}LowerLeg : shin
   foot = {}Foot : foot
    toes = {}Toe : toes
""", ("Left", "Right"), axes="world"),
    Character("motion builder", """
pelvis = Hips : hips
 spine1 = Chest : spine
  spine2 = Chest2 : spine
   spine3 = Chest3 : spine
    spine4 = Chest4 : spine
     neck = Neck : neck
      head = Head : head
     collar = {}Collar : collar
      arm = {}Shoulder : arm
       forearm = {}Elbow : forearm
        hand = {}Wrist : hand
 thigh = {}Hip : thigh
  shin = {}Knee : shin
   foot = {}Ankle : foot
    toes = {}Toe : toes
""", ("Left", "Right")),
    Character("rokoko", """
pelvis = Hips : hips
 spine1 = Spine1 : spine
  spine2 = Spine2 : spine
   spine3 = Spine3 : spine
    spine4 = Spine4 : spine
     neck = Neck : neck
      head = Head : head
     collar = {}Shoulder : collar
      arm = {}Arm : arm
       forearm = {}ForeArm : forearm
        hand = {}Hand : hand
         thumb1 = {}Finger1Metacarpal : finger
          thumb2 = {}Finger1Proximal : finger
         index1 = {}Finger2Metacarpal : finger
          index2 = {}Finger2Proximal : finger
 thigh = {}Thigh : thigh
  shin = {}Shin : shin
   foot = {}Foot : foot
    toes = {}Toe : toes
     toetip = {}ToeTip : -
""", ("Left", "Right")),
    Character("perception neuron", """
pelvis = Hips : hips
 thigh = {}UpLeg : thigh
  shin = {}Leg : shin
   foot = {}Foot : foot
 spine1 = Spine : spine
  spine2 = Spine1 : spine
   spine3 = Spine2 : spine
    neck = Neck : neck
     neck2 = Neck1 : neck
      head = Head : head
    collar = {}Shoulder : collar
     arm = {}Arm : arm
      forearm = {}ForeArm : forearm
       hand = {}Hand : hand
        thumb1 = {}HandThumb1 : finger
         thumb2 = {}HandThumb2 : finger
        palm = {}InHandIndex : finger
         index1 = {}HandIndex1 : finger
          index2 = {}HandIndex2 : finger
""", ("Left", "Right"), axes="world", unit=100.0),
    Character("cmu", """
pelvis = Hips : hips
 pelvis = {0}HipJoint : hip_joint
  thigh = {1}UpLeg : thigh
   shin = {1}Leg : shin
    foot = {1}Foot : foot
     toes = {1}ToeBase : toes
 pelvis = LowerBack : spine
  spine2 = Spine : spine
   spine3 = Spine1 : spine
    neck = Neck : neck
     neck2 = Neck1 : neck
      head = Head : head
    neck = {1}Shoulder : collar
     arm = {1}Arm : arm
      forearm = {1}ForeArm : forearm
       hand = {1}Hand : hand
        palm = {1}FingerBase : ?
         index1 = {1}HandIndex1 : finger
        thumb1 = {0}Thumb : finger
""", ("L/Left", "R/Right"), unit=5.6),
    Character("acclaim", """
pelvis = root : hips
 hip = {}hipjoint : hip_joint
  thigh = {}femur : thigh
   shin = {}tibia : shin
    foot = {}foot : foot
     toes = {}toes : toes
 spine1 = lowerback : spine
  spine2 = upperback : spine
   spine3 = thorax : spine
    neck = lowerneck : neck
     neck2 = upperneck : neck
      head = head : head
    collar = {}clavicle : collar
     arm = {}humerus : arm
      forearm = {}radius : forearm
       hand = {}wrist : hand
        palm = {}hand : ?
         index1 = {}fingers : finger
        thumb1 = {}thumb : finger
""", ("l", "r")),
    Character("bandai", """
root = joint_Root : -
 pelvis = Hips : hips
  spine1 = Spine : spine
   spine3 = Chest : spine
    neck = Neck : neck
     head = Head : head
    collar = Shoulder_{} : collar
     arm = UpperArm_{} : arm
      forearm = LowerArm_{} : forearm
       hand = Hand_{} : hand
  thigh = UpperLeg_{} : thigh
   shin = LowerLeg_{} : shin
    foot = Foot_{} : foot
     toes = Toes_{} : toes
"""),
    Character("makehuman", """
pelvis = root : hips
 spine1 = spine05 : spine
  spine2 = spine04 : spine
   spine3 = spine03 : spine
    spine4 = spine02 : spine
     breast = breast.{} : -
     spine4~neck = spine01 : spine
      neck = neck01 : neck
       neck2 = neck02 : neck
        head = head : head
         jaw = jaw : -
         eye = eye.{} : -
      collar = clavicle.{} : collar
       collar~arm = shoulder01.{} : collar
        arm = upperarm01.{} : arm
         arm~forearm = upperarm02.{} : twist
          forearm = lowerarm01.{} : forearm
           forearm~hand = lowerarm02.{} : twist
            hand = wrist.{} : hand
             thumb1 = finger1-1.{} : finger
              thumb2 = finger1-2.{} : finger
             palm = metacarpal1.{} : ?
              index1 = finger2-1.{} : finger
               index2 = finger2-2.{} : finger
 hip = pelvis.{} : hip_joint
  thigh = upperleg01.{} : thigh
   thigh~shin = upperleg02.{} : twist
    shin = lowerleg01.{} : shin
     shin~foot = lowerleg02.{} : twist
      foot = foot.{} : foot
       toes = toe1-1.{} : ?
       toes = toe2-1.{} : ?
""", arms=35.0),
    Character("mmd", """
root = 全ての親 : -
 pelvis = センター : ?
  pelvis = グルーブ : ?
   pelvis = 腰 : ?
    spine1 = 上半身 : spine
     spine2 = 上半身2 : spine
      neck = 首 : neck
       head = 頭 : head
        eye = {}目 : -
      collar = {}肩P : ?
       collar = {}肩 : collar
        arm = {}肩C : collar
         arm = {}腕 : arm
          arm~forearm = {}腕捩 : twist
           forearm = {}ひじ : forearm
            forearm~hand = {}手捩 : twist
             hand = {}手首 : hand
              thumb1 = {}親指０ : finger
               thumb2 = {}親指１ : finger
              index1 = {}人指１ : finger
               index2 = {}人指２ : finger
    pelvis = 下半身 : ?
     pelvis = 腰キャンセル{} : ?
      thigh = {}足 : thigh
       shin = {}ひざ : shin
        foot = {}足首 : foot
         toes = {}つま先 : toes
      thigh = {}足D : -
       shin = {}ひざD : -
        foot = {}足首D : -
         toes = {}足先EX : -
 root = {}足IK親 : -
  foot_ik = {}足ＩＫ : -
   toes = {}つま先ＩＫ : -
""", ("左", "右"), arms=38.0, unit=12.5),
    Character("mmd in Blender", """
root = 全ての親 : -
 pelvis = センター : ?
  spine1 = 上半身 : spine
   spine2 = 上半身2 : spine
    neck = 首 : neck
     head = 頭 : head
    collar = 肩.{} : collar
     arm = 腕.{} : arm
      forearm = ひじ.{} : forearm
       hand = 手首.{} : hand
        index1 = 人指１.{} : finger
  pelvis = 下半身 : ?
   thigh = 足.{} : thigh
    shin = ひざ.{} : shin
     foot = 足首.{} : foot
      toes = つま先.{} : toes
 foot_ik = 足ＩＫ.{} : -
  toes = つま先ＩＫ.{} : -
""", arms=38.0),
    Character("roblox", """
root = HumanoidRootNode : -
 pelvis = LowerTorso : hips
  spine1 = UpperTorso : spine
   head = Head : head
   arm = {}UpperArm : arm
    forearm = {}LowerArm : forearm
     hand = {}Hand : hand
  thigh = {}UpperLeg : thigh
   shin = {}LowerLeg : shin
    foot = {}Foot : foot
""", ("Left", "Right"), arms=80.0),
    Character("daz", """
pelvis = hip : hips
 pelvis = pelvis : ?
  thigh = {}ThighBend : thigh
   thigh~shin = {}ThighTwist : twist
    shin = {}Shin : shin
     foot = {}Foot : foot
      toes = {}Metatarsals : ?
       toes = {}Toe : ?
 spine1 = abdomenLower : spine
  spine2 = abdomenUpper : spine
   spine3 = chestLower : spine
    spine4 = chestUpper : spine
     collar = {}Collar : collar
      arm = {}ShldrBend : arm
       arm~forearm = {}ShldrTwist : twist
        forearm = {}ForearmBend : forearm
         forearm~hand = {}ForearmTwist : twist
          hand = {}Hand : hand
           index1 = {}Index1 : finger
     neck = neckLower : neck
      neck2 = neckUpper : neck
       head = head : head
""", ("l", "r")),
    Character("smpl", """
pelvis = Pelvis : hips
 thigh = {}_Hip : thigh
  shin = {}_Knee : shin
   foot = {}_Ankle : foot
    toes = {}_Foot : toes
 spine1 = Spine1 : spine
  spine2 = Spine2 : spine
   spine3 = Spine3 : spine
    neck = Neck : neck
     head = Head : head
    collar = {}_Collar : collar
     arm = {}_Shoulder : arm
      forearm = {}_Elbow : forearm
       hand = {}_Wrist : hand
        palm = {}_Hand : ?
""", axes="world"),
    Character("second life", """
pelvis = mPelvis : hips
 spine1 = mTorso : spine
  spine3 = mChest : spine
   neck = mNeck : neck
    head = mHead : head
     crown = mSkull : -
   collar = mCollar{} : collar
    arm = mShoulder{} : arm
     forearm = mElbow{} : forearm
      hand = mWrist{} : hand
       index1 = mHandIndex1{} : finger
 thigh = mHip{} : thigh
  shin = mKnee{} : shin
   foot = mAnkle{} : foot
    toes = mFoot{} : toes
     toetip = mToe{} : ?
""", ("Left", "Right")),
    Character("character creator", """
root = CC_Base_BoneRoot : -
 pelvis = CC_Base_Hip : hips
  pelvis = CC_Base_Pelvis : ?
   thigh = CC_Base_{}_Thigh : thigh
    thigh~shin = CC_Base_{}_ThighTwist01 : -
    shin = CC_Base_{}_Calf : shin
     shin~foot = CC_Base_{}_CalfTwist01 : -
     foot = CC_Base_{}_Foot : foot
      toes = CC_Base_{}_ToeBase : toes
  spine1 = CC_Base_Waist : spine
   spine2 = CC_Base_Spine01 : spine
    spine3 = CC_Base_Spine02 : spine
     neck = CC_Base_NeckTwist01 : neck
      neck2 = CC_Base_NeckTwist02 : neck
       head = CC_Base_Head : head
     collar = CC_Base_{}_Clavicle : collar
      arm = CC_Base_{}_Upperarm : arm
       arm~forearm = CC_Base_{}_UpperarmTwist01 : -
       forearm = CC_Base_{}_Forearm : forearm
        forearm~hand = CC_Base_{}_ForearmTwist01 : -
        hand = CC_Base_{}_Hand : hand
         index1 = CC_Base_{}_Index1 : finger
""", axes="x", arms=45.0, unit=100.0),
    Character("prefixed", """
root = b_root : -
 pelvis = b_hips : hips
  spine1 = b_spine0 : spine
   spine3 = b_spine1 : spine
    neck = b_neck : neck
     head = b_head : head
    collar = b_{}_shoulder : collar
     arm = b_{}_arm : arm
      forearm = b_{}_forearm : forearm
       hand = b_{}_hand : hand
  thigh = b_{}_upleg : thigh
   shin = b_{}_leg : shin
    foot = b_{}_foot : foot
     toes = b_{}_toe : toes
""", ("l", "r"), axes="world", arms=60.0),
    Character("words run together", """
pelvis = hips : hips
 spine1 = lowerspine : spine
  spine3 = upperspine : spine
   neck = neck : neck
    head = head : head
   collar = {}collarbone : collar
    arm = {}upperarm : arm
     forearm = {}lowerarm : forearm
      hand = {}hand : hand
 thigh = {}upperleg : thigh
  shin = {}lowerleg : shin
   foot = {}foot : foot
    toes = {}toes : toes
""", ("Left", "Right"), facing=90.0),
    Character("parts first", """
pelvis = body_lower : hips
 spine1 = body_upper : spine
  head = head : head
  arm = arm_upper.{} : arm
   forearm = arm_lower.{} : forearm
    hand = hand.{} : hand
 thigh = leg_upper.{} : thigh
  shin = leg_lower.{} : shin
   foot = foot.{} : foot
knee_pole = knee.{} : -
elbow_pole = elbow.{} : -
""", feet=60.0),
    Character("no names", """
pelvis = Bone : hips
 spine1 = Bone.001 : spine
  spine3 = Bone.002 : spine
   neck = Bone.003 : neck
    head = Bone.004 : head
   collar = Bone.005 Bone.006 : collar
    arm = Bone.007 Bone.008 : arm
     forearm = Bone.009 Bone.010 : forearm
      hand = Bone.011 Bone.012 : hand
 thigh = Bone.013 Bone.014 : thigh
  shin = Bone.015 Bone.016 : shin
   foot = Bone.017 Bone.018 : foot
    toes = Bone.019 Bone.020 : toes
""", ("001", "002")),
    Character("no names in centimetres", """
root = joint1 : -
 pelvis = joint2 : hips
  spine1 = joint3 : spine
   spine2 = joint4 : spine
    spine4 = joint5 : spine
     neck = joint6 : neck
      head = joint7 : head
     collar = joint8 joint9 : collar
      arm = joint10 joint11 : arm
       forearm = joint12 joint13 : forearm
        hand = joint14 joint15 : hand
         thumb1 = joint16 joint17 : finger
          thumb2 = joint18 joint19 : finger
         index1 = joint20 joint21 : finger
          index2 = joint22 joint23 : finger
         little1 = joint24 joint25 : finger
          little2 = joint26 joint27 : finger
  thigh = joint28 joint29 : thigh
   shin = joint30 joint31 : shin
    foot = joint32 joint33 : foot
     toes = joint34 joint35 : toes
      toetip = joint36 joint37 : ?
""", ("001", "002"), axes="world", arms=45.0, unit=100.0, turned=True, facing=180.0),
    Character("legs that end in IK bones", """
root = root : -
 pelvis = hip : hips
  spine1 = spine : spine
   spine3 = chest : spine
    neck = neck : neck
     head = head : head
    collar = shoulder.{} : collar
     arm = upper_arm.{} : arm
      forearm = forearm.{} : forearm
       hand = hand.{} : hand
  thigh = thigh.{} : thigh
   shin = shin.{} : shin
 foot_ik = leg_ik.{} : -
  foot = foot.{} : ?
 knee_pole = knee.{} : -
"""),
    Character("french with a weapon", """
pelvis = bassin : hips
 spine1 = colonne : spine
  spine3 = torse : spine
   neck = cou : neck
    head = tete : head
   collar = clavicule_{} : collar
    arm = bras_{} : arm
     forearm = avant_bras_{} : forearm
      hand = main_{} : hand
       blade = arme_{} : -
 thigh = cuisse_{} : thigh
  shin = jambe_{} : shin
   foot = pied_{} : foot
    toes = orteils_{} : toes
""", ("gauche", "droite")),
    Character("palms", """
pelvis = Hips : hips
 spine1 = Spine : spine
  spine3 = Chest : spine
   neck = Neck : neck
    head = Head : head
   collar = Shoulder_{} : collar
    arm = UpperArm_{} : arm
     forearm = LowerArm_{} : forearm
      hand = Palm_{} : hand
       index1 = Index1_{} : finger
        index2 = Index2_{} : finger
       thumb1 = Thumb1_{} : finger
 thigh = UpperLeg_{} : thigh
  shin = LowerLeg_{} : shin
   foot = Foot_{} : foot
    toes = Toes_{} : toes
"""),
    Character("arms without hands", """
pelvis = hips : hips
 spine1 = spine : spine
  spine3 = chest : spine
   neck = neck : neck
    head = head : head
   collar = shoulder.{} : collar
    arm = upper_arm.{} : arm
     forearm = forearm.{} : forearm
 thigh = thigh.{} : thigh
  shin = shin.{} : shin
   foot = foot.{} : foot
    toes = toe.{} : toes
"""),
    Character("arms up", """
pelvis = hips : hips
 spine1 = spine : spine
  spine3 = chest : spine
   neck = neck : neck
    head = head : head
   collar = shoulder.{} : collar
    arm = upper_arm.{} : arm
     forearm = forearm.{} : forearm
      hand = hand.{} : hand
 thigh = thigh.{} : thigh
  shin = shin.{} : shin
   foot = foot.{} : foot
    toes = toe.{} : toes
""", arms=-80.0, turned=True),
    Character("arms down", """
pelvis = Hips : hips
 spine1 = Spine : spine
  spine3 = Chest : spine
   neck = Neck : neck
    head = Head : head
   collar = Clavicle {} : collar
    arm = Arm {} : arm
     forearm = Elbow {} : forearm
      hand = Wrist {} : hand
 thigh = Thigh {} : thigh
  shin = Knee {} : shin
   foot = Foot {} : foot
    toes = Toes {} : toes
""", ("Left", "Right"), arms=82.0, axes="world", facing=-90.0, feet=70.0),
    Character("toon", """
root = Main : -
 pelvis = C_pelvis_JNT : hips
  spine1 = C_torso_low_JNT : spine
   spine3 = C_torso_high_JNT : spine
    neck = C_neck_JNT : neck
     head = C_head_JNT : head
      eye = {}_eye_JNT : -
    collar = {}_girdle_JNT : collar
     arm = {}_shoulder_JNT : arm
      forearm = {}_elbow_JNT : forearm
       hand = {}_wrist_JNT : hand
  thigh = {}_hip_JNT : thigh
   shin = {}_knee_JNT : shin
    foot = {}_ankle_JNT : foot
     toes = {}_ball_JNT : toes
""", unit=100.0, facing=37.0, axes="x", arms=40.0, body="toon"),
    Character("sleepwalker", """
pelvis = Bassin : hips
 spine1 = Colonne 1 : spine
  spine2 = Colonne 2 : spine
   spine3 = Colonne 3 : spine
    neck = Cou : neck
     head = Tete : head
    collar = Clavicule {} : collar
     arm = Bras {} : arm
      forearm = AvantBras {} : forearm
       hand = Main {} : hand
 thigh = Cuisse {} : thigh
  shin = Jambe {} : shin
   foot = Pied {} : foot
    toes = Orteils {} : toes
""", ("G", "D"), axes="world", facing=200.0, turned=True, body="sleepwalker"),
    Character("gorilla", """
pelvis = hip : hips
 spine1 = abdomen : spine
  spine3 = chest : spine
   neck = neck : neck
    head = head : head
   arm = {}upperarm : arm
    forearm = {}lowerarm : forearm
     hand = {}hand : hand
 thigh = {}upperleg : thigh
  shin = {}lowerleg : shin
   foot = {}foot : foot
""", ("l_", "r_"), unit=0.01, arms=60.0, facing=-60.0, body="gorilla"),
    Character("dog", """
root = root : -
 pelvis = pelvis : hips
  spine1 = spine_01 : spine
   spine2 = spine_02 : spine
    chest = chest : spine
     neck = neck_01 : neck
      neck2 = neck_02 : neck
       head = head : head
        muzzle = jaw : -
        ear = ear.{} : -
     collar = scapula.{} : collar
      arm = front_upper_leg.{} : arm
       forearm = front_lower_leg.{} : forearm
        hand = front_foot.{} : hand
         fingers = front_toes.{} : ?
  thigh = back_thigh.{} : thigh
   shin = back_shin.{} : shin
    foot = back_foot.{} : foot
     toes = back_toes.{} : toes
  tail1 = tail_01 : -
   tail2 = tail_02 : -
    tail3 = tail_03 : -
""", body="dog", human=False),
    Character("horse with human names", """
pelvis = Hips : hips
 spine1 = Spine : spine
  spine2 = Spine1 : spine
   chest = Spine2 : spine
    neck = Neck : neck
     neck2 = Neck1 : neck
      head = Head : head
    collar = {}Shoulder : collar
     arm = {}Arm : arm
      forearm = {}ForeArm : forearm
       hand = {}Hand : hand
        fingers = {}HandIndex1 : ?
 thigh = {}UpLeg : thigh
  shin = {}Leg : shin
   foot = {}Foot : foot
    toes = {}ToeBase : toes
 tail1 = Tail : -
  tail2 = Tail1 : -
""", ("Left", "Right"), body="dog", human=False),
    Character("bird", """
root = root : -
 pelvis = hips : hips
  chest = chest : spine
   neck = neck : neck
    neck2 = neck.001 : neck
     head = head : head
      beak = beak : -
   arm = wing_upper.{} : arm
    forearm = wing_lower.{} : forearm
     hand = wing_hand.{} : hand
  thigh = thigh.{} : thigh
   shin = shin.{} : shin
    foot = foot.{} : foot
     toes = toes.{} : toes
  tail1 = tail : -
   tail2 = tail.001 : -
""", body="bird", human=False),
    Character("german", """
root = Wurzel : -
 pelvis = Becken : hips
  spine1 = Bauch : spine
   spine3 = Brust : spine
    neck = Hals : neck
     head = Kopf : head
      braid = Zopf_{} : -
       braid2 = Zopf2_{} : -
        braid3 = Zopf3_{} : -
         braid4 = Zopf4_{} : -
    collar = Schlüsselbein_{} : collar
     arm = Oberarm_{} : arm
      forearm = Unterarm_{} : forearm
       hand = Hand_{} : hand
        prop = Schwert_{} : ?
         blade = Klinge_{} : ?
  skirt = Rock_{} : -
   skirt2 = Rock2_{} : -
  thigh = Oberschenkel_{} : thigh
   shin = Unterschenkel_{} : shin
    foot = Fuß_{} : foot
     toes = Zehen_{} : toes
""", ("links", "rechts"), arms=30.0, facing=180.0),
    Character("chinese", """
pelvis = 骨盆 : hips
 spine1 = 脊柱1 : spine
  spine3 = 脊柱2 : spine
   neck = 脖子 : neck
    head = 头 : head
     hair = 头发 : -
      hair2 = 头发2 : -
   collar = {}锁骨 : collar
    arm = {}上臂 : arm
     forearm = {}前臂 : forearm
      hand = {}手 : hand
       index1 = {}食指 : finger
 thigh = {}大腿 : thigh
  shin = {}小腿 : shin
   foot = {}脚 : foot
    toes = {}脚趾 : toes
""", ("左", "右"), body="child", arms=55.0, axes="x"),
    Character("spanish", """
root = base : -
 pelvis = cadera : hips
  spine1 = columna : spine
   spine3 = pecho : spine
    head = cabeza : head
     jaw = mandíbula : -
    arm = brazo_{} : arm
     forearm = antebrazo_{} : forearm
      hand = mano_{} : hand
  thigh = muslo_{} : thigh
   shin = pantorrilla_{} : shin
    foot = pie_{} : foot
  tail1 = cola_1 : -
   tail2 = cola_2 : -
    tail3 = cola_3 : -
""", ("1", "2"), arms=65.0),
    Character("sides in the middle", """
pelvis = hips : hips
 spine1 = torso_lower : spine
  spine3 = torso_upper : spine
   neck = neck : neck
    head = head : head
   collar = arm_{}_clav : collar
    arm = arm_{}_upper : arm
     forearm = arm_{}_lower : forearm
      hand = arm_{}_hand : hand
 thigh = leg_{}_upper : thigh
  shin = leg_{}_lower : shin
   foot = leg_{}_foot : foot
    toes = leg_{}_toe : toes
   shin~foot = holster_{} : -
""", ("l", "r"), arms=30.0),
    Character("winged", """
pelvis = Hips : hips
 spine1 = Spine : spine
  spine3 = Chest : spine
   breast = Breast_{} : -
   wing = Wing_{} : -
    wing2 = Wing_{}.001 : -
     wing3 = Wing_{}.002 : -
      wing4 = Wing_{}.003 : -
   neck = Neck : neck
    head = Head : head
     ear = Ear_{} : -
     braid = TwinTail_{} : -
      braid2 = TwinTail_{}.001 : -
       braid3 = TwinTail_{}.002 : -
        braid4 = TwinTail_{}.003 : -
   collar = {} shoulder : collar
    arm = {} arm : arm
     forearm = {} elbow : forearm
      hand = {} wrist : hand
       index1 = IndexFinger1_{} : finger
 skirt = Skirt_{} : -
  skirt2 = Skirt_{}.001 : -
 tail1 = Tail : -
  tail2 = Tail.001 : -
   tail3 = Tail.002 : -
 thigh = {} leg : thigh
  shin = {} knee : shin
   foot = {} ankle : foot
    toes = {} toe : toes
""", ("Left", "Right"), arms=40.0),
    Character("second life with volumes", """
pelvis = mPelvis : hips
 pelvis = PELVIS : -
 spine1 = mSpine1 : spine
  pelvis = mSpine2 : spine
   spine1 = mTorso : spine
    spine2 = BELLY : -
    spine3 = mSpine3 : spine
     spine1 = mSpine4 : spine
      spine3 = mChest : spine
       spine4 = CHEST : -
       neck = mNeck : neck
        neck = NECK : -
        head = mHead : head
         head = HEAD : -
         crown = mSkull : -
       collar = mCollar{0} : collar
        collar~arm = {1}_CLAVICLE : -
        arm = mShoulder{0} : arm
         arm~forearm = {1}_UPPER_ARM : -
         forearm = mElbow{0} : forearm
          forearm~hand = {1}_LOWER_ARM : -
          hand = mWrist{0} : hand
           palm = {1}_HAND : ?
           index1 = mHandIndex1{0} : finger
       wing = mWingsRoot : -
        wing = mWing1{0} : -
         wing2 = mWing2{0} : -
          wing3 = mWing3{0} : -
 tail1 = mTail1 : -
  tail2 = mTail2 : -
 thigh = mHip{0} : thigh
  thigh~shin = {1}_UPPER_LEG : -
  shin = mKnee{0} : shin
   shin~foot = {1}_LOWER_LEG : -
   foot = mAnkle{0} : foot
    foot~toes = {1}_FOOT : ?
    toes = mFoot{0} : toes
     toetip = mToe{0} : ?
""", ("Left/L", "Right/R"), facing=90.0),
    Character("twist bones in line", """
pelvis = hip : hips
 spine1 = abdomen : spine
  spine3 = chest : spine
   neck = neck : neck
    head = head : head
   collar = {}_collar : collar
    arm = {}_uparm : arm
     arm~forearm = {}_uparm_twist : twist
      forearm = {}_loarm : forearm
       forearm~hand = {}_loarm_twist : twist
        hand = {}_hand : hand
         knuckle = {}_carpal : finger
          index1 = {}_index1 : finger
         thumb1 = {}_thumb1 : finger
 thigh = {}_upleg : thigh
  thigh~shin = {}_upleg_twist : twist
   shin = {}_loleg : shin
    foot = {}_foot : foot
     toes = {}_toe : toes
""", ("l", "r"), arms=25.0),
    Character("no names horse", """
pelvis = Node_0 : hips
 spine1 = Node_1 : spine
  spine2 = Node_2 : spine
   chest = Node_3 : spine
    neck = Node_4 : neck
     neck2 = Node_5 : neck
      neck3 = Node_6 : neck
       head = Node_7 : head
        muzzle = Node_8 : ?
    collar = Node_10 Node_20 : collar
     arm = Node_11 Node_21 : arm
      forearm = Node_12 Node_22 : forearm
       hand = Node_13 Node_23 : hand
        fingers = Node_14 Node_24 : ?
         fingertip = Node_15 Node_25 : ?
 thigh = Node_30 Node_40 : thigh
  shin = Node_31 Node_41 : shin
   foot = Node_32 Node_42 : foot
    toes = Node_33 Node_43 : toes
     toetip = Node_34 Node_44 : ?
 tail1 = Node_50 : -
  tail2 = Node_51 : -
   tail3 = Node_52 : -
""", ("1", "2"), body="horse", human=False, facing=120.0),
    Character("german bird", """
root = Wurzel : -
 pelvis = Becken : hips
  chest = Brust : spine
   neck = Hals : neck
    neck2 = Hals2 : neck
     head = Kopf : head
      beak = Schnabel : -
   arm = Flügel1_{} : arm
    forearm = Flügel2_{} : forearm
     hand = Flügel3_{} : hand
  thigh = Oberschenkel_{} : thigh
   shin = Unterschenkel_{} : shin
    foot = Lauf_{} : foot
     toes = Zehen_{} : toes
  tail1 = Schwanz : -
   tail2 = Schwanz2 : -
""", body="bird", human=False, facing=180.0),
)  # fmt: skip

BY_NAME = {character.name: character for character in CHARACTERS}
