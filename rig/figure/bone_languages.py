# SPDX-License-Identifier: GPL-3.0-or-later
"""Words for parts and sides of a figure in other languages, without accents."""

_WORDS = """
German
becken=pelvis hufte=hip huefte=hip wirbelsaule=spine wirbelsaeule=spine wirbel=spine rucken=back ruecken=back
bauch=belly brust=chest brustkorb=chest hals=neck kopf=head schlusselbein=clavicle schluesselbein=clavicle
schulter=shoulder oberarm=upper.arm unterarm=lower.arm ellbogen=elbow ellenbogen=elbow handgelenk=wrist daumen=thumb
zeigefinger=index mittelfinger=middle.finger ringfinger=ring.finger bein=leg oberschenkel=thigh unterschenkel=shin
knie=knee fuss=foot knochel=ankle knoechel=ankle zeh=toe zehe=toe zehen=toes schwanz=tail
haar=hair haare=hair zopf=hair waffe=weapon schwert=sword schild=shield rock=skirt auge=eye kiefer=jaw flugel=wing
fluegel=wing pfote=paw huf=hoof
French
bassin=pelvis hanche=hip colonne=spine dos=back ventre=belly poitrine=chest torse=chest cou=neck tete=head
clavicule=clavicle epaule=shoulder bras=arm avant=fore coude=elbow poignet=wrist doigt=finger doigts=finger pouce=thumb
cuisse=thigh jambe=leg genou=knee mollet=calf cheville=ankle pied=foot orteil=toe orteils=toes
arme=weapon epee=sword bouclier=shield queue=tail cheveux=hair jupe=skirt oeil=eye machoire=jaw aile=wing
patte=paw sabot=hoof
Spanish and Portuguese
cadera=hip quadril=hip bacia=pelvis columna=spine coluna=spine espalda=back espinazo=spine cintura=waist pecho=chest
peito=chest cuello=neck pescoco=neck cabeza=head cabeca=head clavicula=clavicle hombro=shoulder ombro=shoulder
brazo=arm braco=arm antebrazo=lower.arm antebraco=lower.arm codo=elbow cotovelo=elbow muneca=wrist pulso=wrist mano=hand
mao=hand dedo=finger dedos=finger pulgar=thumb pierna=leg perna=leg muslo=thigh coxa=thigh rodilla=knee joelho=knee
pantorrilla=calf panturrilha=calf tobillo=ankle tornozelo=ankle pie=foot pe=foot
arma=weapon espada=sword escudo=shield cola=tail pelo=hair cabelo=hair falda=skirt saia=skirt ojo=eye olho=eye
mandibula=jaw ala=wing asa=wing pata=paw
Italian
bacino=pelvis anca=hip colonna=spine schiena=back petto=chest torace=chest collo=neck testa=head clavicola=clavicle
spalla=shoulder braccio=arm avambraccio=lower.arm gomito=elbow polso=wrist dito=finger dita=finger pollice=thumb
coscia=thigh gamba=leg ginocchio=knee polpaccio=calf caviglia=ankle piede=foot
spada=sword scudo=shield coda=tail capelli=hair gonna=skirt occhio=eye
mascella=jaw zampa=paw zoccolo=hoof
Swedish, Danish and Norwegian
huvud=head hoved=head hode=head
Chinese
骨盆=pelvis 臀=hips 脊柱=spine 脊椎=spine 腹=belly 颈=neck 脖子=neck 脖=neck 头=head 头发=hair 锁骨=clavicle
肩膀=shoulder 上臂=upper.arm 大臂=upper.arm 前臂=lower.arm 小臂=lower.arm 下臂=lower.arm 手肘=elbow 手腕=wrist 手掌=hand
手指=finger 拇指=thumb 食指=index 无名指=ring.finger 大腿=thigh 小腿=shin 膝盖=knee 脚踝=ankle 脚=foot 脚趾=toes
脚掌=toes 尾巴=tail 裙=skirt 裙子=skirt 眼睛=eye 翅膀=wing
Japanese
骨盤=pelvis 背骨=spine 頸=neck 鎖骨=clavicle 上腕=upper.arm 前腕=lower.arm 人差し指=index 太もも=thigh 腿=thigh 脛=shin
すね=shin 足指=toes 尻尾=tail 髪の毛=hair
"""

ENGLISH = {
    word: tuple(english.split(".")) for word, _, english in
    (entry.partition("=") for entry in _WORDS.split() if "=" in entry)
}  # fmt: skip
"""The English words for a word of another language."""

SIDES = (
    ("links", "rechts"), ("gauche", "droite"), ("gauche", "droit"), ("izquierda", "derecha"), ("izquierdo", "derecho"),
    ("izq", "der"), ("esquerda", "direita"), ("esquerdo", "direito"), ("esq", "dir"), ("sinistra", "destra"),
    ("sinistro", "destro"), ("sx", "dx"), ("lewa", "prawa"), ("lewy", "prawy"), ("lewe", "prawe"), ("leva", "prava"),
    ("levy", "pravy"), ("leve", "prave"),
)  # fmt: skip
"""The words for left and right; of words with several counterparts, the first counts."""
