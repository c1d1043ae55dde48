"""What the demo model says in German."""

from typing import Final

from demo.texts.answer_texts import AnswerTexts, words_of

GERMAN: Final = AnswerTexts(
    words=words_of(
        "der die das den dem ein eine einen einem einer und ist es im in von zu mit auf für nicht was wer wie wann wo warum kann kannst du "
        "ich mir mich sagt denke laut viele notiere braucht zeig vergleiche erzähl schreib gib über hallo bitte dieses"
    ),
    guide="""\
**Dies ist ein Probelauf**: Noch ist kein Modell verbunden, und was ich sage, wurde vorher geschrieben. Alles um mich herum ist echt: \
Diese Antwort entstand in einem Worker-Prozess, kam durch Redis und steht in Postgres.

{quote}Frag mich eines davon, und du siehst, wie Antworten hier aussehen:

- *Wie viele Rechtecke hat ein 3 × 3-Gitter?* zeigt, was ein Modell denkt, bevor es antwortet.
- *Wie spät ist es?* ruft ein Werkzeug auf, sobald **Datum und Uhrzeit** in den Optionen unter der Nachricht angekreuzt ist.
- *Notiere etwas* ruft eines auf, das dich vorher fragt, sobald dort **Alle Werkzeuge von notes** angekreuzt ist.
- *Zeig mir Code, eine Tabelle und eine Formel* zeigt genau das.
- *Jede Frage* in einem Chat mit einer **Wissensdatenbank**, oder mit einem Agenten, dem du Dateien gegeben hast: Ich durchsuche sie und zitiere, was ich finde.
- *Erzähl mir eine lange Geschichte von einem Leuchtturm* dauert eine Minute: **Stopp** sie, oder lade die Seite neu, während ich schreibe.

Du kannst auch deine Frage **bearbeiten**, diese Antwort **neu erzeugen** und den Baum ansehen, der dabei entsteht.

### Ein Modell verbinden

Wer diesen Server betreibt, verbindet eines auf dieser Seite, ohne Neustart: im Menü unter dem eigenen Namen, **Modellanbieter**. \
Jeder Server, der das Protokoll von OpenAI spricht, ist dafür gut.
""",
    quoted="Du hast geschrieben:\n\n> {question}\n\n",
    found="""\
Ich habe die Dokumente dieses Chats durchsucht. Das passt am besten zu deiner Frage:

> {sentence} [{number}]

Ich kann nur zitieren. Ein Modell, das du verbindest, liest, was gefunden wurde, und antwortet in eigenen Worten; die Nummer führt in jedem Fall zur Stelle.
""",
    nothing_found="Ich habe die Dokumente dieses Chats durchsucht und nichts gefunden, was passt.\n",
    told="Das Werkzeug sagt: **{result}**\n",
    thought="""\
Ein Rechteck im Gitter ist durch zwei der vier senkrechten und zwei der vier waagerechten Linien bestimmt. \
Zwei von vier Linien lassen sich auf 6 Arten wählen: 4 · 3 / 2. Also gibt es 6 · 6 Rechtecke. \
Probe mit einem 1 × 1-Gitter: zwei Linien in jeder Richtung, je eine Wahl, ein Rechteck. Stimmt. \
Und ein 2 × 2-Gitter: 3 · 3 = 9, nämlich vier kleine, vier aus zwei Quadraten und das ganze. Stimmt.
""",
    rectangles="""\
In einem 3 × 3-Gitter gibt es **36 Rechtecke**, die Quadrate mitgezählt.

Jedes ist durch zwei der vier senkrechten und zwei der vier waagerechten Linien bestimmt:

$$\\binom{4}{2} \\cdot \\binom{4}{2} = 6 \\cdot 6 = 36$$

Was ich dabei „gedacht“ habe, steht eingeklappt über dieser Antwort. Es wurde vorher geschrieben, wie alles, was ich sage: Ich bin eine Demo.
""",
    parts="""\
Eine Funktion, mit ihrer Sprache und einem Knopf, der sie kopiert:

{code}

Eine Tabelle ungefährer Zahlen, die sich für sich verschieben lässt, wo sie zu breit ist:

| Ort | Hochwasser | Niedrigwasser | Tidenhub |
|:--|--:|--:|--:|
| Husum | 3,5 m | 0,2 m | 3,3 m |
| Brest | 6,1 m | 1,4 m | 4,7 m |
| Saint John | 8,2 m | 0,6 m | 7,6 m |

Und eine Formel, als Text, der hier ohne einen Server gezeichnet wird:

{formula}
""",
    sentences=(
        "Der Wärter stieg die Treppe hinauf, wie an jedem Abend, und zählte die Stufen, obwohl er wusste, wie viele es waren.",
        "Unten kam das Wasser, ohne einen Laut, und nahm den Weg über das Watt, Stein für Stein.",
        "Er schrieb die Stunde ins Buch, dann den Wind, dann, was er gesehen hatte, und das war wenig.",
        "Weit draußen zog ein Schiff vorbei; seine Lichter sagten, dass es keine Eile hatte.",
        "In der Küche sprach das Radio von einem Wetter, das am nächsten Tag kommen würde, oder vielleicht auch nicht.",
        "Eine Weile drehte er die Lampe von Hand, weil der Motor stehen geblieben war, und weil er es gern tat.",
    ),
    night="Nacht {number}.",
    advice="_Stopp mich jederzeit, oder lade die Seite neu: Was geschrieben ist, bleibt, und die Antwort geht weiter, wo sie ist._",
    morning="Und dann war es Morgen.",
    compared="""\
Beide kommen von Pflanzen, die wachsen, wo es warm ist, und beide halten wach. In fast allem anderen unterscheiden sie sich:

| | Tee | Kaffee |
|:--|:--|:--|
| aus | Blättern von *Camellia sinensis* | Samen von *Coffea* |
| Koffein in einer Tasse | etwa 40 mg | etwa 90 mg |
| Wasser | 70 bis 95 °C | 90 bis 96 °C |
| Zeit | zwei bis fünf Minuten | eine halbe Minute bis vier |

**Tee** verzeiht Wasser, das nicht ganz stimmt, und gibt eine zweite Tasse aus denselben Blättern. **Kaffee** will frische Bohnen, \
eine Waage und etwas Geduld.

Das andere Modell dieses Probelaufs beantwortet dieselbe Frage neben mir. Wähle eine der Antworten, um mit ihr weiterzumachen.
""",
    compared_briefly="""\
Tee: Blätter, milder, etwa 40 mg Koffein in einer Tasse. Kaffee: Samen, stärker, etwa 90 mg.

Am Morgen Kaffee, am Abend keins von beiden.
""",
    cited="""\
Das Handbuch hat drei Regeln für Nebel:

1. Das Horn ertönt, **sobald die äußere Bake nicht mehr zu sehen ist**, bei Tag wie bei Nacht [#].
2. Ein Ton von vier Sekunden in jeder Minute; wer Wache hat, schreibt auf, wann der erste und der letzte ertönte [#].
3. Fällt der Kompressor aus, wird die Glocke von Hand geläutet, fünf Schläge in der Minute, bis er wieder läuft [#].

Die Nummer hinter einer Aussage führt zu dem Dokument, aus dem sie stammt: Klick darauf.
""",
    without_handbook="""\
Ich kenne nur ein Dokument: das Handbuch, das mit dem Vorschlag auf einer leeren Seite kommt. Beginn einen neuen Chat und wähle dort \
die Frage nach dem Nebel: Ich antworte aus dem Handbuch und zitiere es.
""",
    without_tool="""\
Ich würde das Werkzeug `current_time` fragen, aber es ist in diesem Chat nicht eingeschaltet. Öffne die Optionen neben dem Namen des Modells, \
kreuze **Datum und Uhrzeit** an, und frag mich noch einmal: Du siehst den Aufruf, seine Argumente und was zurückkam.
""",
    without_notes="""\
Ich würde das mit dem Werkzeug `add_note` des Servers **notes** aufschreiben, aber es ist in diesem Chat nicht eingeschaltet. Öffne die Optionen \
neben dem Namen des Modells, kreuze **Alle Werkzeuge von notes** an, und frag mich noch einmal: Der Aufruf wartet, bis du ihn erlaubst, änderst oder ablehnst.
""",
    note="Die Lampe des Leuchtturms braucht Öl.",
)
