"""What the demo model says in French."""

from typing import Final

from demo.texts.answer_texts import AnswerTexts, words_of

FRENCH: Final = AnswerTexts(
    words=words_of(
        "le la les un une des du et est de que qui quoi quel quelle comment combien quand où pourquoi dans sur ce cette il y pour avec dit "
        "notez note besoin montre moi compare raconte réfléchis voix haute peux tu je mon bonjour merci"
    ),
    guide="""\
**Ceci est un essai** : aucun modèle n’est encore connecté, et ce que je dis a été écrit d’avance. Tout le reste est réel : \
cette réponse a été produite dans un processus de travail, est passée par Redis et se trouve dans Postgres.

{quote}Posez-moi l’une de ces questions, et vous verrez à quoi ressemblent les réponses ici :

- *Combien de rectangles y a-t-il dans une grille 3 × 3 ?* montre ce qu’un modèle pense avant de répondre.
- *Quelle heure est-il ?* appelle un outil, dès que **Date et heure** est coché dans les options sous le message.
- *Notez quelque chose* en appelle un qui vous demande d’abord, dès que **Tous les outils de notes** y est coché.
- *Montre-moi du code, un tableau et une formule* montre exactement cela.
- *N’importe quelle question* dans une discussion avec une **base de connaissances**, ou avec un agent à qui vous avez donné des fichiers : je les parcours et cite ce que je trouve.
- *Raconte-moi une longue histoire de phare* dure une minute : **arrêtez**-la, ou rechargez la page pendant que j’écris.

Vous pouvez aussi **modifier** votre question, **régénérer** cette réponse et regarder l’arbre qui en résulte.

### Connecter un modèle

Qui exploite ce serveur en connecte un sur cette page, sans redémarrage : dans le menu sous son propre nom, **Fournisseurs de modèles**. \
Tout serveur qui parle le protocole d’OpenAI convient.
""",
    quoted="Vous avez écrit :\n\n> {question}\n\n",
    found="""\
J’ai cherché dans les documents de cette discussion. Voici ce qui répond le mieux à votre question :

> {sentence} [{number}]

Je ne sais que citer. Un modèle que vous connectez lit ce qui a été trouvé et répond avec ses propres mots ; le numéro mène au passage dans les deux cas.
""",
    nothing_found="J’ai cherché dans les documents de cette discussion et n’ai rien trouvé qui convienne.\n",
    told="L’outil dit : **{result}**\n",
    thought="""\
Un rectangle de la grille est déterminé par deux de ses quatre lignes verticales et deux de ses quatre lignes horizontales. \
Il y a 6 façons de choisir deux lignes sur quatre : 4 · 3 / 2. Il y a donc 6 · 6 rectangles. \
Vérifions avec une grille 1 × 1 : deux lignes dans chaque sens, un seul choix à chaque fois, un rectangle. C’est juste. \
Et une grille 2 × 2 : 3 · 3 = 9, soit quatre petits, quatre de deux carrés, et le tout. C’est juste.
""",
    rectangles="""\
Il y a **36 rectangles** dans une grille 3 × 3, carrés compris.

Chacun est déterminé par deux des quatre lignes verticales et deux des quatre lignes horizontales :

$$\\binom{4}{2} \\cdot \\binom{4}{2} = 6 \\cdot 6 = 36$$

Ce que j’ai « pensé » est replié au-dessus de cette réponse. Cela a été écrit d’avance, comme tout ce que je dis : je suis une démonstration.
""",
    parts="""\
Une fonction, avec son langage et un bouton qui la copie :

{code}

Un tableau de chiffres approximatifs, qui défile de lui-même là où il est trop large :

| lieu | pleine mer | basse mer | marnage |
|:--|--:|--:|--:|
| Husum | 3,5 m | 0,2 m | 3,3 m |
| Brest | 6,1 m | 1,4 m | 4,7 m |
| Saint John | 8,2 m | 0,6 m | 7,6 m |

Et une formule, un texte qui est dessiné ici sans aucun serveur :

{formula}
""",
    sentences=(
        "Le gardien monta l’escalier, comme chaque soir, et compta les marches bien qu’il en sût le nombre.",
        "En bas, l’eau arriva sans un bruit et prit le chemin à travers l’estran, pierre après pierre.",
        "Il écrivit l’heure dans le livre, puis le vent, puis ce qu’il avait vu, et c’était peu.",
        "Un navire passa au loin ; ses feux disaient qu’il n’était pas pressé.",
        "Dans la cuisine, la radio parlait d’un temps qui arriverait le lendemain, ou peut-être pas.",
        "Il tourna la lampe à la main pendant un moment, parce que le moteur s’était arrêté, et parce qu’il aimait cela.",
    ),
    night="Nuit {number}.",
    advice="_Arrêtez-moi à tout moment, ou rechargez la page : ce qui est écrit reste, et la réponse continue là où elle en est._",
    morning="Et puis ce fut le matin.",
    compared="""\
Tous deux viennent de plantes qui poussent là où il fait chaud, et tous deux tiennent éveillé. Presque tout le reste les distingue :

| | thé | café |
|:--|:--|:--|
| de | feuilles de *Camellia sinensis* | graines de *Coffea* |
| caféine par tasse | environ 40 mg | environ 90 mg |
| eau | de 70 à 95 °C | de 90 à 96 °C |
| durée | de deux à cinq minutes | d’une demi-minute à quatre |

Le **thé** pardonne une eau qui n’est pas tout à fait la bonne, et donne une deuxième tasse avec les mêmes feuilles. Le **café** veut des grains frais, \
une balance et un peu de patience.

L’autre modèle de cet essai répond à la même question à côté de moi. Choisissez l’une des réponses pour continuer avec elle.
""",
    compared_briefly="""\
Thé : feuilles, plus doux, environ 40 mg de caféine par tasse. Café : graines, plus fort, environ 90 mg.

Le matin du café, le soir ni l’un ni l’autre.
""",
    cited="""\
Le manuel a trois règles pour le brouillard :

1. La corne retentit **dès que la balise extérieure n’est plus visible**, de jour comme de nuit [#].
2. Un son de quatre secondes chaque minute ; le gardien de quart note quand le premier et le dernier ont retenti [#].
3. Si le compresseur tombe en panne, la cloche est sonnée à la main, cinq coups par minute, jusqu’à ce qu’il remarche [#].

Le numéro derrière une affirmation mène au document dont elle provient : cliquez dessus.
""",
    without_handbook="""\
Je ne connais qu’un document : le manuel qui vient avec la suggestion d’une page vide. Commencez une nouvelle discussion et choisissez-y \
la question sur le brouillard : je réponds d’après le manuel, et je le cite.
""",
    without_tool="""\
Je demanderais à l’outil `current_time`, mais il n’est pas activé dans cette discussion. Ouvrez les options à côté du nom du modèle, \
cochez **Date et heure** et redemandez-moi : vous verrez l’appel, ses arguments et ce qui est revenu.
""",
    without_notes="""\
Je le noterais avec l’outil `add_note` du serveur **notes**, mais il n’est pas activé dans cette discussion. Ouvrez les options à côté du nom \
du modèle, cochez **Tous les outils de notes** et redemandez-moi : l’appel attend que vous l’autorisiez, le modifiiez ou le refusiez.
""",
    note="La lampe du phare a besoin d’huile.",
)
