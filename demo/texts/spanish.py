"""What the demo model says in Spanish."""

from typing import Final

from demo.texts.answer_texts import AnswerTexts, words_of

SPANISH: Final = AnswerTexts(
    words=words_of(
        "el la los las un una y en de del que qué es cómo cuántos cuándo dónde quién por para con sobre este esta hay dice hora anota "
        "necesita muéstrame compara cuéntame piensa voz alta puedes me mi tu hola gracias"
    ),
    guide="""\
**Esto es una prueba**: todavía no hay ningún modelo conectado, y lo que digo se escribió de antemano. Todo lo demás es real: \
esta respuesta se hizo en un proceso de trabajo, pasó por Redis y está guardada en Postgres.

{quote}Pregúntame una de estas cosas y verás cómo son aquí las respuestas:

- *¿Cuántos rectángulos hay en una cuadrícula de 3 × 3?* muestra lo que un modelo piensa antes de responder.
- *¿Qué hora es?* llama a una herramienta, cuando **Fecha y hora** está marcada en las opciones debajo del mensaje.
- *Anota algo* llama a una que te pregunta antes, cuando allí está marcado **Todas las herramientas de notes**.
- *Muéstrame código, una tabla y una fórmula* muestra justo eso.
- *Cualquier pregunta* en un chat con una **base de conocimientos**, o con un agente al que has dado archivos: busco en ellos y cito lo que encuentro.
- *Cuéntame una larga historia de un faro* dura un minuto: **detenla**, o recarga la página mientras escribo.

También puedes **editar** tu pregunta, **regenerar** esta respuesta y mirar el árbol que resulta de ello.

### Conectar un modelo

Quien administra este servidor conecta uno en esta página, sin reiniciar: en el menú bajo su propio nombre, **Proveedores de modelos**. \
Sirve cualquier servidor que hable el protocolo de OpenAI.
""",
    quoted="Has escrito:\n\n> {question}\n\n",
    found="""\
He buscado en los documentos de este chat. Esto es lo que mejor encaja con tu pregunta:

> {sentence} [{number}]

Yo solo puedo citar. Un modelo que conectes lee lo encontrado y responde con sus propias palabras; el número lleva al pasaje en ambos casos.
""",
    nothing_found="He buscado en los documentos de este chat y no he encontrado nada que encaje.\n",
    told="La herramienta dice: **{result}**\n",
    thought="""\
Un rectángulo de la cuadrícula queda fijado por dos de sus cuatro líneas verticales y dos de sus cuatro líneas horizontales. \
Hay 6 maneras de elegir dos de cuatro líneas: 4 · 3 / 2. Así que hay 6 · 6 rectángulos. \
Compruebo con una cuadrícula de 1 × 1: dos líneas en cada sentido, una elección en cada uno, un rectángulo. Correcto. \
Y una de 2 × 2: 3 · 3 = 9, que son cuatro pequeños, cuatro de dos cuadrados y el entero. Correcto.
""",
    rectangles="""\
En una cuadrícula de 3 × 3 hay **36 rectángulos**, contando los cuadrados.

Cada uno queda fijado por dos de las cuatro líneas verticales y dos de las cuatro horizontales:

$$\\binom{4}{2} \\cdot \\binom{4}{2} = 6 \\cdot 6 = 36$$

Lo que he «pensado» está plegado encima de esta respuesta. Se escribió de antemano, como todo lo que digo: soy una demostración.
""",
    parts="""\
Una función, con su lenguaje y un botón que la copia:

{code}

Una tabla de números aproximados, que se desplaza por sí sola donde es demasiado ancha:

| lugar | pleamar | bajamar | amplitud |
|:--|--:|--:|--:|
| Husum | 3,5 m | 0,2 m | 3,3 m |
| Brest | 6,1 m | 1,4 m | 4,7 m |
| Saint John | 8,2 m | 0,6 m | 7,6 m |

Y una fórmula, como texto que se dibuja aquí sin ningún servidor:

{formula}
""",
    sentences=(
        "El farero subió la escalera, como cada noche, y contó los peldaños aunque sabía cuántos eran.",
        "Abajo, el agua entró sin un ruido y tomó el camino sobre la arena, piedra a piedra.",
        "Escribió la hora en el libro, luego el viento, luego lo que había visto, que era poco.",
        "Un barco pasó a lo lejos; sus luces decían que no tenía prisa.",
        "En la cocina, la radio hablaba de un tiempo que llegaría al día siguiente, o quizá no.",
        "Durante un rato giró la lámpara a mano, porque el motor se había parado, y porque le gustaba.",
    ),
    night="Noche {number}.",
    advice="_Detenme cuando quieras, o recarga la página: lo escrito se queda, y la respuesta sigue donde está._",
    morning="Y entonces se hizo de día.",
    compared="""\
Ambos vienen de plantas que crecen donde hace calor, y ambos mantienen despierta a la gente. Se diferencian en casi todo lo demás:

| | té | café |
|:--|:--|:--|
| de | hojas de *Camellia sinensis* | semillas de *Coffea* |
| cafeína en una taza | unos 40 mg | unos 90 mg |
| agua | de 70 a 95 °C | de 90 a 96 °C |
| tiempo | de dos a cinco minutos | de medio minuto a cuatro |

El **té** perdona un agua que no es del todo la adecuada, y da una segunda taza con las mismas hojas. El **café** quiere granos frescos, \
una balanza y algo de paciencia.

El otro modelo de esta prueba responde a la misma pregunta a mi lado. Elige una de las respuestas para seguir con ella.
""",
    compared_briefly="""\
Té: hojas, más suave, unos 40 mg de cafeína en una taza. Café: semillas, más fuerte, unos 90 mg.

Por la mañana café, por la noche ninguno.
""",
    cited="""\
El manual tiene tres reglas para la niebla:

1. La bocina suena **en cuanto deja de verse la baliza exterior**, de día como de noche [#].
2. Un toque de cuatro segundos cada minuto; quien está de guardia anota cuándo sonaron el primero y el último [#].
3. Si falla el compresor, se toca la campana a mano, cinco golpes por minuto, hasta que vuelva a funcionar [#].

El número detrás de una afirmación lleva al documento del que procede: haz clic en él.
""",
    without_handbook="""\
Solo conozco un documento: el manual que viene con la sugerencia de una página vacía. Empieza un chat nuevo y elige allí \
la pregunta sobre la niebla: respondo con el manual, y lo cito.
""",
    without_tool="""\
Preguntaría a la herramienta `current_time`, pero no está activada en este chat. Abre las opciones junto al nombre del modelo, \
marca **Fecha y hora** y pregúntame otra vez: verás la llamada, sus argumentos y lo que devolvió.
""",
    without_notes="""\
Lo anotaría con la herramienta `add_note` del servidor **notes**, pero no está activada en este chat. Abre las opciones junto al nombre del \
modelo, marca **Todas las herramientas de notes** y pregúntame otra vez: la llamada espera hasta que la permitas, la cambies o la rechaces.
""",
    note="La lámpara del faro necesita aceite.",
)
