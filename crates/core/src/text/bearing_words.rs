//! The words and phrases that `bearing` knows, by what they do, in English, German, French and Spanish, and phrases of
//! Chinese and Japanese. Lower case, separated by blanks; a word may stand in several lists. Knows no rule.

/// More than one, and not how many.
pub(super) const MANY: u32 = 1;
/// A word for anything that can be told in parts.
pub(super) const THING: u32 = 1 << 1;
/// Says that something is, or was spoken of.
pub(super) const TELLS: u32 = 1 << 2;
pub(super) const GOOD: u32 = 1 << 3;
/// What is rated.
pub(super) const JUDGED: u32 = 1 << 4;
/// Points to what follows.
pub(super) const HERE: u32 = 1 << 5;
/// Names parts behind it.
pub(super) const SUCH: u32 = 1 << 6;
/// Superlatives that do not end like one.
pub(super) const MOST: u32 = 1 << 7;
pub(super) const ONE: u32 = 1 << 8;
pub(super) const OF: u32 = 1 << 9;
pub(super) const ALL: u32 = 1 << 10;
pub(super) const THINKS: u32 = 1 << 11;
/// Says by itself that something is settled.
pub(super) const SETTLED: u32 = 1 << 12;
/// In front of a time by which something is done.
pub(super) const DEADLINE: u32 = 1 << 13;
pub(super) const TIME: u32 = 1 << 14;
pub(super) const FUTURE: u32 = 1 << 15;
/// Gives a task to somebody.
pub(super) const DUTY: u32 = 1 << 16;
pub(super) const NUMBER: u32 = 1 << 17;
pub(super) const BOTH: u32 = 1 << 18;
/// A word for what can be chosen.
pub(super) const CHOICE: u32 = 1 << 19;
pub(super) const CHOOSES: u32 = 1 << 20;
pub(super) const THAT: u32 = 1 << 21;
/// Points back by itself.
pub(super) const FORMER: u32 = 1 << 22;
pub(super) const FIRST: u32 = 1 << 23;
pub(super) const SECOND: u32 = 1 << 24;
pub(super) const THIRD: u32 = 1 << 25;
pub(super) const OR: u32 = 1 << 26;
/// A time that says when something is done behind a `DEADLINE` only.
pub(super) const PERIOD: u32 = 1 << 29;
/// Numbers behind a choice: both bits for three.
pub(super) const NUMBERED: u32 = 3 << ORDINAL_BIT;
pub(super) const ORDINAL_BIT: u32 = 30;
/// A phrase that announces or rates by itself.
pub(super) const EMPTY: u32 = 1 << 27;

pub(super) static WORDS: &[(u32, &str)] = &[
    (MANY, "several many various multiple numerous few some different number variety range couple lot lots"),
    (MANY, "mehrere viele verschiedene einige zahlreiche diverse reihe vielzahl paar"),
    (MANY, "plusieurs nombreux nombreuses divers diverses différents différentes quelques nombre série"),
    (MANY, "varios varias muchos muchas diversos diversas diferentes distintos distintas algunos algunas serie"),
    (
        THING,
        "ways reasons things points topics subjects aspects factors steps options methods approaches techniques strategies issues questions challenges benefits advantages features types kinds examples tips suggestions ideas considerations possibilities",
    ),
    (
        THING,
        "möglichkeiten gründe dinge punkte themen aspekte faktoren schritte optionen methoden ansätze strategien fragen herausforderungen vorteile arten beispiele tipps vorschläge ideen wege",
    ),
    (
        THING,
        "façons manières raisons choses points sujets aspects facteurs étapes méthodes approches techniques stratégies défis avantages exemples conseils suggestions idées moyens possibilités",
    ),
    (
        THING,
        "maneras formas razones cosas puntos temas aspectos factores pasos opciones métodos enfoques técnicas estrategias cuestiones desafíos ventajas tipos ejemplos consejos sugerencias posibilidades",
    ),
    (
        TELLS,
        "are is were was covered covers cover discussed discuss discusses explored explore explores touched addressed consider",
    ),
    (TELLS, "ist war est es era gibt gab sind waren besprochen behandelt diskutiert existieren"),
    (TELLS, "existe existent sont avons abordé discuté hay existen son hemos tratamos abordamos discutimos"),
    (GOOD, "great good excellent interesting important fascinating complex wonderful tricky thoughtful fantastic"),
    (GOOD, "gute tolle spannende interessante wichtige komplexe schwierige ausgezeichnete spannendes wichtiges"),
    (GOOD, "bonne excellente intéressante importante belle buena excelente interesante importante gran"),
    (JUDGED, "question topic subject frage thema sujet pregunta tema"),
    (HERE, "here below hier nachfolgend voici aquí"),
    (SUCH, "including namely such e.g z.b darunter nämlich notamment comme como incluyendo"),
    (MOST, "most best worst plus más mejores peores"),
    (ONE, "one einer eine eines un une uno una"),
    (OF, "of der des de for für to"),
    (ALL, "everyone everybody all alle jeder tous monde todos todas"),
    (THINKS, "agree agreed agrees think thinks want wants prefer prefers believe convinced"),
    (THINKS, "einverstanden denken finden wollen meinen dafür zugestimmt accord pensons pense voulons veut préférons"),
    (THINKS, "acuerdo pensamos queremos quieren preferimos creemos"),
    (SETTLED, "unanimous unanimously consensus einstimmig einig einvernehmlich konsens übernimmt kümmert"),
    (SETTLED, "unanimité unanimement unanimidad unánime consenso"),
    (DEADLINE, "by until till before bis vor avant ici antes hasta para"),
    (
        TIME,
        "monday tuesday wednesday thursday friday saturday sunday tomorrow tonight noon eod january february march april june july august september october november december",
    ),
    (
        TIME,
        "montag dienstag mittwoch donnerstag freitag samstag sonntag morgen heute mittag januar februar märz mai juni juli oktober dezember",
    ),
    (
        TIME,
        "lundi mardi mercredi jeudi vendredi samedi dimanche demain midi lunes martes miércoles jueves viernes sábado domingo mañana mediodía",
    ),
    (PERIOD, "end week month ende woche monatsende fin"),
    (FUTURE, "will ll shall werde werden wird werdet vais va vont allons voy vamos van"),
    (DUTY, "responsible assigned zuständig verantwortlich charge responsable encarga encargado"),
    (NUMBER, "two three four five six seven eight nine ten eleven twelve dozen half thirds"),
    (NUMBER, "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dutzend hälfte deux trois quatre cinq"),
    (NUMBER, "sept huit dix onze douze moitié dos tres cuatro cinco seis siete ocho nueve diez doce mitad"),
    (BOTH, "both beide beiden deux ambos ambas dos"),
    (CHOICE, "option options approach approaches idea proposal proposals suggestion version versions variant variants"),
    (CHOICE, "plan plans solution solutions choice design designs alternative alternatives method methods"),
    (CHOICE, "vorschlag vorschläge variante varianten lösung lösungen möglichkeit möglichkeiten ansatz ansätze idee"),
    (CHOICE, "proposition propositions idée approche opción opciones propuesta propuestas solución soluciones enfoque"),
    (1 << ORDINAL_BIT, "one 1 a eins un una uno"),
    (2 << ORDINAL_BIT, "two 2 b zwei deux dos"),
    (3 << ORDINAL_BIT, "three 3 c drei trois tres"),
    (CHOOSES, "go going take choose chose pick picked prefer adopt use let"),
    (CHOOSES, "nehmen nehme wählen bevorzugen bevorzuge prenons prend choisissons préfère préférons"),
    (CHOOSES, "tomamos elegimos preferimos prefiero usamos"),
    (THAT, "that this these those them dieser diese diesen dieses cette ces esa ese esta este"),
    (FORMER, "former latter letztere letzteren erstere ersteren celui celle"),
    (FIRST, "first erste ersten erster première premier primera primer primero"),
    (SECOND, "second zweite zweiten zweiter deuxième seconde segunda segundo"),
    (THIRD, "third dritte dritten dritter troisième tercera tercero"),
    (OR, "or either oder entweder ou soit o u"),
];

pub(super) static WIDE: &[(&str, u32)] = &[
    ("以下是", EMPTY),
    ("以下为", EMPTY),
    ("下面是", EMPTY),
    ("有几种", EMPTY),
    ("有很多种", EMPTY),
    ("有多种", EMPTY),
    ("有以下几", EMPTY),
    ("几个方面", EMPTY),
    ("好问题", EMPTY),
    ("以下の", EMPTY),
    ("以下に", EMPTY),
    ("良い質問", EMPTY),
    ("いい質問", EMPTY),
    ("いくつかの方法", EMPTY),
    ("様々な方法", EMPTY),
    ("最", MOST),
    ("之一", ONE),
    ("の一つ", ONE),
    ("ひとつです", ONE),
    ("都同意", SETTLED),
    ("都觉得", SETTLED),
    ("都认为", SETTLED),
    ("一致同意", SETTLED),
    ("全員一致", SETTLED),
    ("负责", SETTLED),
    ("負責", SETTLED),
    ("担当します", SETTLED),
    ("前完成", SETTLED),
    ("までに", SETTLED),
    ("第一个", FIRST),
    ("第一种", FIRST),
    ("一番目", FIRST),
    ("第二个", SECOND),
    ("第二种", SECOND),
    ("二番目", SECOND),
    ("第三个", THIRD),
    ("第三种", THIRD),
    ("三番目", THIRD),
    ("两种都", BOTH),
    ("两个都", BOTH),
    ("両方", BOTH),
    ("选", CHOOSES),
    ("就用", CHOOSES),
    ("采用", CHOOSES),
    ("决定用", CHOOSES),
    ("にします", CHOOSES),
    ("にしましょう", CHOOSES),
    ("或者", OR),
    ("还是", OR),
    ("または", OR),
    ("方案", CHOICE),
    ("方法", CHOICE),
];
