# SPDX-License-Identifier: GPL-3.0-or-later
"""One body under the names of many programs, games and languages; as `conventions`, with the hierarchy always the same.

A line has the convention, its words for the sides, and the names of root, hips, spine, neck and head, then those of
collar, arm, forearm and hand, then those of thigh, shin, foot and toes. `{}` stands for the side, and `-` for no bone.
"""

from conventions import Character, usual

_LINES = """
kinect | Left Right | - | SpineBase | SpineMid, SpineShoulder | Neck | Head
 - | Shoulder{} | Elbow{} | Wrist{} | Hip{} | Knee{} | Ankle{} | Foot{}
mocopi | l r | - | root | torso_1, torso_2, torso_7 | neck_1 | head
 {}_shoulder | {}_up_arm | {}_low_arm | {}_hand | {}_up_leg | {}_low_leg | {}_foot | {}_toes
skyrim | L R | NPC Root [Root] | NPC Pelvis [Pelv] | NPC Spine [Spn0], NPC Spine1 [Spn1] | NPC Neck [Neck] \
 | NPC Head [Head]
 NPC {0} Clavicle [{0}Clv] | NPC {0} UpperArm [{0}Uar] | NPC {0} Forearm [{0}Lar] | NPC {0} Hand [{0}Hnd] \
 | NPC {0} Thigh [{0}Thg] | NPC {0} Calf [{0}Clf] | NPC {0} Foot [{0}ft ] | NPC {0} Toe0 [{0}Toe]
xps | left right | root ground | root hips | spine lower, spine upper | head neck lower | head neck upper
 arm {} shoulder 1 | arm {} shoulder 2 | arm {} elbow | arm {} wrist | leg {} thigh | leg {} knee | leg {} ankle \
 | leg {} toes
cat | L R | CATRigHub | CATRigPelvis | CATRigSpine1, CATRigRibcage | CATRigNeck | CATRigHead
 CATRig{}ArmCollarbone | CATRig{}Arm1 | CATRig{}Arm2 | CATRig{}ArmPalm | CATRig{}Leg1 | CATRig{}Leg2 \
 | CATRig{}LegAnkle | CATRig{}LegDigit11
forefeet | Left Right | - | Hips | Spine, Spine1, Spine2 | Neck | Head
 {}Shoulder | {}Arm | {}ForeArm | {}Hand | {}UpLeg | {}Leg | {}Foot | {}ForeFoot
numbered | L R | - | Root | Spine_01, Spine_02 | Neck | Head
 {}_Clav | {}_Arm_01 | {}_Arm_02 | {}_Arm_03 | {}_Leg_01 | {}_Leg_02 | {}_Leg_03 | {}_Leg_04
top and bottom | L R | - | hips | spine1, spine2 | neck | head
 clav.{} | armTop.{} | armBottom.{} | hand.{} | legTop.{} | legBottom.{} | foot.{} | toe.{}
sides alone | L R | - | Bone | Bone.001, Bone.002 | Bone.003 | Bone.004
 Bone.{} | Bone.{}.001 | Bone.{}.002 | Bone.{}.003 | Bone.{}.004 | Bone.{}.005 | Bone.{}.006 | Bone.{}.007
latin | sin dex | - | sacrum | lumbar, thoracic | cervical | cranium
 clavicula_{} | humerus_{} | radius_{} | carpus_{} | femur_{} | tibia_{} | talus_{} | metatarsus_{}
korean | 왼 오른 | - | 골반 | 척추1, 척추2 | 목 | 머리
 {}쇄골 | {}상완 | {}전완 | {}손 | {}허벅지 | {}종아리 | {}발 | {}발가락
french | gauche droite | - | Bassin | Colonne1, Colonne2 | Cou | Tête
 Clavicule_{} | Bras_{} | AvantBras_{} | Main_{} | Cuisse_{} | Jambe_{} | Pied_{} | Orteils_{}
italian | sx dx | - | bacino | colonna1, petto | collo | testa
 clavicola.{} | braccio.{} | avambraccio.{} | mano.{} | coscia.{} | gamba.{} | piede.{} | dita_piede.{}
portuguese | esq dir | - | quadril | coluna1, peito | pescoço | cabeça
 clavícula.{} | braço.{} | antebraço.{} | mão.{} | coxa.{} | perna.{} | pé.{} | dedos.{}
polish | L P | - | miednica | kręgosłup1, klatka | szyja | głowa
 obojczyk.{} | ramię.{} | przedramię.{} | dłoń.{} | udo.{} | goleń.{} | stopa.{} | palce.{}
czech | levá pravá | - | pánev | páteř1, hrudník | krk | hlava
 klíční_{} | paže_{} | předloktí_{} | ruka_{} | stehno_{} | lýtko_{} | chodidlo_{} | prsty_{}
swedish | V H | - | bäcken | ryggrad1, bröst | hals | huvud
 nyckelben.{} | överarm.{} | underarm.{} | hand.{} | lår.{} | underben.{} | fot.{} | tå.{}
japanese | L R | - | 骨盤 | 背骨, 胸 | 首 | 頭
 鎖骨.{} | 上腕.{} | 前腕.{} | 手.{} | 太もも.{} | すね.{} | 足.{} | 足指.{}
mech | port starboard | - | core | torso1, torso2 | ring | cockpit
 pylon_{} | actuator_a_{} | actuator_b_{} | gripper_{} | hydraulic_a_{} | hydraulic_b_{} | pad_{} | claw_{}
"""


def _character(first: str, second: str) -> Character:
    """A character from the two lines of a convention."""
    name, sides, names = first.split(" | ", 2)
    spines = {2: ("spine1", "spine2"), 3: ("spine1", "spine2", "spine3")}
    return Character(name, usual(f"{names} | {second}", spines), tuple(sides.split()), arms=40.0)


_ROWS = _LINES.strip().splitlines()
NAMINGS = tuple(_character(*pair) for pair in zip(_ROWS[::2], _ROWS[1::2], strict=True))
