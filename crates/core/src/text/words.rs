//! The words that the lexer knows, by what they do: lists as tables built at compile time, with one look-up per word that
//! touches no memory for most words. Knows words and how to find one; refuses to know texts and rules.

/// Words that take the truth out of a statement.
pub(super) const NEGATION: u32 = 1;
pub(super) const OBLIGATION: u32 = 1 << 1;
pub(super) const EMPHASIS: u32 = 1 << 2;
pub(super) const REASONING: u32 = 1 << 3;
pub(super) const DECISION: u32 = 1 << 4;
/// A word that carries nothing: thanks, sure, okay.
pub(super) const FILLER: u32 = 1 << 5;
/// A word that may stand between fillers.
pub(super) const GLUE: u32 = 1 << 6;
/// Filler after "no": problem, worries.
pub(super) const AFTER_NO: u32 = 1 << 7;
/// Its full stop ends no sentence.
pub(super) const ABBREVIATION: u32 = 1 << 8;
/// Its full stop ends a sentence when a capital follows.
pub(super) const ABBREVIATION_LAST: u32 = 1 << 9;
/// Begins sentences, and is no name then.
pub(super) const OPENER: u32 = 1 << 10;
pub(super) const UNIT: u32 = 1 << 11;
pub(super) const MONTH: u32 = 1 << 12;
/// Frequent in German and in no other language.
pub(super) const GERMAN: u32 = 1 << 13;
/// A word of test and build reports.
pub(super) const REPORT: u32 = 1 << 14;
/// The rarest word of a phrase that is a cue.
pub(super) const PHRASE: u32 = 1 << 15;
/// PR, issue, ticket: a number after it belongs to it.
pub(super) const TICKET: u32 = 1 << 16;
pub(super) const CURRENCY: u32 = 1 << 17;
pub(super) const CLOCK: u32 = 1 << 18;
pub(super) const EXTENSION: u32 = 1 << 19;
pub(super) const DOMAIN: u32 = 1 << 20;
/// The, of, and: in no name and in no identifier.
pub(super) const FUNCTION: u32 = 1 << 21;
/// Interjections without vowels.
pub(super) const SOUND: u32 = 1 << 22;
/// Thousand, million.
pub(super) const SCALE: u32 = 1 << 23;
/// Begins lines of source code.
pub(super) const CODE: u32 = 1 << 24;
/// May begin a correction.
pub(super) const CORRECTION: u32 = 1 << 25;
/// Begins a log line or a status line.
pub(super) const LEVEL: u32 = 1 << 26;

/// Its full stop ends no sentence when a number follows.
pub(super) const BEFORE_NUMBER: u32 = 1 << 27;

/// How people are addressed: says nothing without the name behind it.
pub(super) const TITLE: u32 = 1 << 29;
/// Names a value that stands elsewhere: the ID, the price.
pub(super) const LABEL: u32 = 1 << 30;

/// Has a vowel; the table knows it, the lists do not.
pub(super) const VOWELS: u32 = 1 << 28;

const N_SLOTS: usize = 1 << 13;
const N_FILTER: usize = 512;
/// Of a word at most this many bytes are compared.
pub(super) const MAX_BYTES: usize = 16;

#[derive(Clone, Copy)]
struct Slot {
    low: u64,
    high: u64,
    flags: u32,
}

/// Words and what is known of each; `SLOTS` is a power of two and more than twice the number of words.
pub(super) struct Table<const SLOTS: usize> {
    /// One bit per word: most words of a text stop here.
    filter: [u64; N_FILTER],
    slots: [Slot; SLOTS],
}

static TABLE: Table<N_SLOTS> = Table::new(LISTS);

const FOLD: u64 = 0x2020_2020_2020_2020;

const fn hash(low: u64, high: u64) -> u64 {
    (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl<const SLOTS: usize> Table<SLOTS> {
    /// The words of `lists`, separated by blanks, each with the flags of all its lists.
    pub(super) const fn new(lists: &[(u32, &str)]) -> Self {
        let mut table = Self { filter: [0; N_FILTER], slots: [const { Slot { low: 0, high: 0, flags: 0 } }; SLOTS] };
        let mut list = 0;
        while list < lists.len() {
            let (flags, text) = lists[list];
            let text = text.as_bytes();
            let (mut low, mut high, mut len, mut at, mut has_vowel) = (0_u64, 0_u64, 0, 0, false);
            while at <= text.len() {
                if at == text.len() || text[at] <= b' ' {
                    if len > 0 {
                        table.insert(low, high, flags | if has_vowel { VOWELS } else { 0 });
                    }
                    (low, high, len, has_vowel) = (0, 0, 0, false);
                } else {
                    let byte = (text[at] | 0x20) as u64;
                    has_vowel |= matches!(text[at] | 0x20, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
                    if len < 8 {
                        low |= byte << (8 * len);
                    } else if len < MAX_BYTES {
                        high |= byte << (8 * (len - 8));
                    }
                    len += 1;
                }
                at += 1;
            }
            list += 1;
        }
        table
    }

    const fn insert(&mut self, low: u64, high: u64, flags: u32) {
        let hash = hash(low, high);
        let bit = (hash >> 49) as usize;
        self.filter[bit >> 6] |= 1 << (bit & 63);
        let mut slot = Self::slot(hash);
        while self.slots[slot].flags != 0 && (self.slots[slot].low != low || self.slots[slot].high != high) {
            slot = (slot + 1) % SLOTS;
        }
        self.slots[slot] = Slot { low, high, flags: self.slots[slot].flags | flags };
    }

    const fn slot(hash: u64) -> usize {
        (hash >> (64 - SLOTS.trailing_zeros())) as usize
    }

    /// Flags of the word `bytes[start..end]` by its first [`MAX_BYTES`] bytes, case folded (ASCII and the Latin letters
    /// with accents), with `VOWELS`; 0 when it is not in the lists.
    #[inline]
    pub(super) fn find(&self, bytes: &[u8], start: usize, end: usize) -> u32 {
        let len = end.saturating_sub(start).min(MAX_BYTES);
        if len == 0 {
            return 0;
        }
        let low = load(bytes, start, len.min(8));
        let high = if len > 8 { load(bytes, start + 8, len - 8) } else { 0 };
        self.flags(low, high)
    }

    #[inline]
    fn flags(&self, low: u64, high: u64) -> u32 {
        let hash = hash(low, high);
        let bit = (hash >> 49) as usize;
        if self.filter[bit >> 6] & (1 << (bit & 63)) == 0 { 0 } else { self.find_slot(low, high, hash) }
    }

    fn find_slot(&self, low: u64, high: u64, hash: u64) -> u32 {
        let mut slot = Self::slot(hash);
        loop {
            let found = &self.slots[slot];
            if found.flags == 0 || (found.low == low && found.high == high) {
                return found.flags;
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

/// Flags of the word `bytes[start..end]`, case folded (ASCII and the Latin letters with accents); 0 when it is
/// not in the list.
#[inline]
pub(super) fn find(bytes: &[u8], start: usize, end: usize) -> u32 {
    if end.saturating_sub(start) > MAX_BYTES { 0 } else { TABLE.find(bytes, start, end) & !VOWELS }
}

/// Flags of a word of up to eight bytes, given as one number, case folded and filled up with zeros; with `VOWELS`.
#[inline]
pub(super) fn find_short(low: u64) -> u32 {
    TABLE.flags(low, 0)
}

/// Flags of a word of nine to sixteen bytes, given as two numbers, case folded and filled up with zeros.
#[inline]
pub(super) fn find_long(low: u64, high: u64) -> u32 {
    TABLE.flags(low, high) & !VOWELS
}

/// The eight bytes at `start` as one number, the first the lowest.
#[inline]
pub(super) fn eight_bytes(bytes: &[u8], start: usize) -> Option<u64> {
    bytes.get(start..start + 8).and_then(|part| part.try_into().ok()).map(u64::from_le_bytes)
}

/// Eight bytes with their case folded.
#[inline]
pub(super) fn fold(word: u64) -> u64 {
    word | FOLD
}

/// Flags of a whole word.
pub(super) fn flags_of(word: &[u8]) -> u32 {
    find(word, 0, word.len())
}

/// The first `len` (1 to 8) bytes at `start`, case folded, the rest zero.
#[inline]
fn load(bytes: &[u8], start: usize, len: usize) -> u64 {
    let keep = u64::MAX >> (64 - 8 * len);
    let word = match eight_bytes(bytes, start) {
        Some(word) => word,
        None => bytes.iter().skip(start).take(len).rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    (word | FOLD) & keep
}

/// Flags and the words that carry them, in English, German, French and Spanish. Lower case, separated by blanks; a word
/// may stand in several lists.
static LISTS: &[(u32, &str)] = &[
    (
        NEGATION,
        "not no never none nor neither without cannot nothing nobody nowhere cant wont dont doesnt didnt isnt arent wasnt werent shouldnt wouldnt couldnt hasnt havent hadnt unable",
    ),
    (
        NEGATION,
        "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder nirgends keinesfalls",
    ),
    (
        NEGATION,
        "ne pas jamais aucun aucune rien sans personne nunca ningún ninguna ninguno nada nadie sin tampoco jamás",
    ),
    (
        OBLIGATION,
        "must shall required mandatory obliged prohibited forbidden muss müssen musst müsst musste mussten soll sollen sollte pflicht zwingend verboten",
    ),
    (OBLIGATION, "doit doivent devez devons obligatoire interdit debe deben debemos debes obligatorio prohibido"),
    (
        EMPHASIS,
        "however critical critically crucial important importantly essential notably especially particularly significant significantly urgent caution beware attention warning vital unfortunately",
    ),
    (
        EMPHASIS,
        "jedoch wichtig wichtige wichtigste entscheidend insbesondere kritisch dringend achtung unbedingt vorsicht leider immer cependant important essentiel crucial notamment surtout attention urgent toujours",
    ),
    (EMPHASIS, "importante esencial crucial especialmente urgente atención siempre"),
    (REASONING, "therefore thus hence consequently because accordingly whereas although though otherwise thereby"),
    (
        REASONING,
        "daher deshalb deswegen folglich somit weil denn trotzdem obwohl demnach donc car parce puisque ainsi porque entonces pues aunque",
    ),
    (
        DECISION,
        "decided decide decision agreed agree approved approve resolved conclude concluded chose chosen confirmed rejected accepted signed",
    ),
    (
        DECISION,
        "beschlossen entschieden entscheidung vereinbart genehmigt zugestimmt angenommen abgelehnt décidé décision convenu approuvé decidido decisión acordado aprobado",
    ),
    (
        PHRASE,
        "result given conclusion action reason due have has need needs summary turns had do don't need consequence todo going rule order sum folge grund lieu raison",
    ),
    (
        FILLER,
        "thanks thank thx sure okay ok k great awesome perfect cool nice welcome hello hi hey bye goodbye cheers glad happy alright yeah yep yup hmm hm um uh uhm umm mm mmm mhm mm-hmm uh-huh hmm-mm ah oh wow lol haha hahaha absolutely certainly excellent wonderful fantastic lovely please sorry gotcha understood indeed congratulations congrats ty np yw anytime greetings",
    ),
    (
        FILLER,
        "dank danke dankeschön bitte gerne super toll klar genau natürlich hallo tschüss guten prima okey merci bonjour salut gracias hola vale claro adiós parfait d'accord bravo perfecto genial",
    ),
    (
        GLUE,
        "to you for the i i'm i'll i'd it's let me so very much your my a an and of course at all right well then now help helping assist assistance question questions good morning afternoon evening night day one too again lot any have has got it is that's that this with more just can could would know feel free ask hear back look luck we you're yes be if else anything there here great here's day pleasure reaching out",
    ),
    (
        GLUE,
        "doubt gern sehr schön dank vielen ja auch tag morgen abend mal de nada muchas buenos días beaucoup bien très muy bien ça va il y a pas quoi",
    ),
    (AFTER_NO, "problem worries probs prob"),
    (
        ABBREVIATION,
        "mr mrs ms dr prof st vs eg ie approx ca cf pp ed eds gen col sgt capt lt rev hon jr sr gov sen rep ave blvd dept est ext tel resp viz al jan",
    ),
    (BEFORE_NUMBER, "no nos nr art sec fig figs vol ch op eq pp p s bd abs approx min max ca ver"),
    (
        ABBREVIATION,
        "bzw ggf evtl vgl ca inkl exkl zzgl str hr fr frl dipl ing sog zb allg bspw insb mio mrd tsd kl hrsg rd ff bbl env ej pág sra núm av apdo p.ex",
    ),
    (ABBREVIATION, "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri okt dez mrz"),
    (ABBREVIATION_LAST, "etc usw usf inc ltd co corp llc gmbh a.m p.m ph.d u.a o.ä jr sr ag plc"),
    (
        OPENER,
        "the this these that those a an i we you he she it they my your his her its our their what when where who why how which whose if as at by for from in into of on to with about after before during until while since because but and or so then now here there however therefore also additionally furthermore moreover meanwhile finally first second third next last lastly once please actually no not yes yeah ok okay sure thanks thank great good well right let let's maybe perhaps just only even still yet both each every some any all most many more much another other such same using use run running see note notes ticket update updated add added fix fixed create created make made check checked set get got do does did don't doesn't didn't is are was were be been being am has have had can can't could would should will won't shall may might must cannot never always often sometimes usually today yesterday tomorrow",
    ),
    (
        OPENER,
        "i'm i'll i've i'd you're you'll you've we're we'll we've it's that's there's they're he's she's what's who's where's how's isn't aren't wasn't wouldn't shouldn't couldn't hasn't haven't although though unless instead otherwise hence thus given despite without within between through over under above below across against along around like than rather too very really quite almost already again ever soon later looking look according based regarding overall otherwise hello hi hey dear sorry welcome wait warning error important caution tip example examples step steps summary conclusion introduction overview question answer questions answers result results output input file files line lines page pages section sections chapter table figure hmm oh ah um uh wow lol haha yep yup nope",
    ),
    (
        OPENER,
        "consider remember ensure try click open close read write find replace remove delete include includes including provide provides return returns call calls start stop continue go come keep take give tell ask want wanted need needed know think thought believe feel found based one two three four five six seven eight nine ten several few none nothing everything something anyone someone everyone people different new old big small long short high low main general specific common simple total correct incorrect true false false sounds looks seems makes sense anything alright absolutely certainly definitely exactly indeed obviously clearly unfortunately fortunately hopefully generally typically basically essentially especially specifically particularly similarly likewise alternatively conversely consequently accordingly subsequently initially previously currently recently eventually ultimately",
    ),
    (
        OPENER,
        "der die das ein eine einen einem einer wir ich sie er es ihr du und oder aber denn wenn weil dass als auch nach vor bei mit für von aus zum zur im am an auf in so dann jetzt hier da doch noch nur schon nicht kein keine was wer wie wo warum diese dieser dieses le la les un une des il elle nous vous ils je et ou mais donc car si que qui dans sur pour avec sans el los las una yo tú él ella nosotros y o pero porque como para por con en",
    ),
    (
        OPENER,
        "mein meine meinen meinem meiner meines dein deine deinen deinem deiner sein seine seinen seinem seiner ihre ihren ihrem ihrer ihres unser unsere unseren unserem unserer unseres eure euren eurem eurer den dem viele vielen manche manchen alle allen einige einigen jede jeden jedem jeder jedes keinen keiner welche welcher solche andere anderen anyway among",
    ),
    (
        OPENER,
        "sehr liebe lieber liebes geehrte geehrter geehrten verehrte verehrter verehrten werte werter cher chère chers chères estimado estimada estimados estimadas querido querida queridos queridas notre nos votre vos leurs cette nuestro nuestra nuestros nuestras",
    ),
    (
        TITLE,
        "mr mrs ms miss mx dr prof professor doctor sir madam ma'am gentlemen ladies colleague colleagues president minister senator governor captain chancellor judge",
    ),
    (
        TITLE,
        "herr herrn herren frau fräulein damen kollege kollegen kollegin kolleginnen gäste freunde freundinnen präsident präsidentin präsidenten bundespräsident minister ministerin kanzler kanzlerin bundeskanzler bundeskanzlerin doktor",
    ),
    (
        TITLE,
        "monsieur madame mademoiselle messieurs mesdames mme mlle collègues docteur professeur président présidente ministre señor señora señorita señores señoras sra colegas doctora profesor profesora presidente presidenta ministro ministra",
    ),
    (
        LABEL,
        "id ids name names number numbers price prices total totals cost costs amount amounts method methods type types class classes date dates time status category quantity balance address size color colour details description subject title position information info features value reason location destination duration",
    ),
    (
        LABEL,
        "nummer preis betrag summe datum uhrzeit anzahl menge adresse kategorie betreff grund ort dauer bestellnummer kundennummer rechnungsnummer gesamtpreis nom numéro prix montant quantité adresse catégorie objet motif lieu durée nombre número precio importe cantidad fecha dirección categoría asunto motivo lugar duración estado",
    ),
    (
        UNIT,
        "s ms us µs ns sec secs second seconds min mins minute minutes h hr hrs hour hours d day days w wk week weeks month months yr yrs year years quarter quarters millisecond milliseconds microseconds nanoseconds",
    ),
    (
        UNIT,
        "b kb mb gb tb pb kib mib gib tib byte bytes bit bits kbps mbps gbps hz khz mhz ghz fps rps qps tps rpm px pt em rem vh vw dpi dp kb/s mb/s gb/s mib/s req/s",
    ),
    (
        UNIT,
        "mm cm m km ft in inch inches feet foot mile miles mph km/h meter meters metre metres kilometers kilometres yard yards acre acres hectare hectares mg g kg t ton tons tonnes lb lbs oz pound gram grams kilograms l ml liter liters litre litres gallon gallons cup cups tbsp tsp v mv kv kw kwh mw w wh watt watts volt volts amp amps ma mah db cal kcal calories °c °f degrees percent pct",
    ),
    (
        UNIT,
        "retries retry attempts attempt workers worker nodes node requests request users user errors error failures failure tests test files file lines line rows row columns items item pages page threads thread cores core cpus gpus instances instance replicas pods containers servers shards partitions connections messages message records tokens token events samples epochs steps step iterations commits times people persons customers employees participants members seats tickets orders units points votes guests nights rooms stars passengers bags cases changes warnings warning passed failed skipped deaths copies words characters chars sentences votes x",
    ),
    (
        UNIT,
        "sekunden sekunde minuten stunde stunden tag tage tagen woche wochen monat monate monaten jahr jahre jahren prozent personen menschen stück stimmen secondes heure heures jour jours semaine semaines mois an ans personnes segundos minutos hora horas día días semana semanas mes meses año años personas uhr",
    ),
    (
        MONTH,
        "january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    ),
    (GERMAN, "der die das und ist nicht ich wir den dem ein eine auf mit für sich auch"),
    (
        REPORT,
        "err fail failed failure failures error errors fatal panic panicked exception traceback denied status pass passed passing ok okay warn warning warnings success successful successfully succeeded test tests ran real user sys build result exit exited command directory segmentation refused critical aborted abort skipped suites ignored duration critical code killed not undefined failing passes problems issues examples assertions skip changed timed npm terminated flaky fehler rejected",
    ),
    (TICKET, "pr prs mr issue issues ticket tickets bug rfc cve jira story task pull"),
    (
        CURRENCY,
        "dollar dollars euro euros usd eur gbp chf jpy cny rmb yen yuan pounds cents cent bucks rupees inr aud cad bitcoin btc",
    ),
    (CLOCK, "am pm a.m p.m uhr o'clock"),
    (
        EXTENSION,
        "ts tsx js jsx mjs cjs py pyi ipynb rs go java kt kts swift c h cc cpp cxx hpp hh cs rb php pl sh bash zsh fish ps1 bat sql html htm css scss sass less xml json jsonl json5 ndjson yaml yml toml ini cfg conf config env lock md mdx rst txt text tex log csv tsv xls xlsx doc docx ppt pptx pdf png jpg jpeg gif svg webp ico bmp mp3 mp4 wav mov avi zip tar gz bz2 xz zst 7z rar whl jar war exe dll so dylib lib bin dat db sqlite parquet proto graphql vue svelte tf gradle cmake make mk diff patch map snap tmp bak pem key crt cer mod sum lua ex exs erl hs ml scala clj dart zig nim jl el vim plist rc out err pkl npy onnx pt pth safetensors",
    ),
    (
        DOMAIN,
        "com org net io de dev ai co uk fr cn jp edu gov mil local internal app cloud info eu ch at nl us ca au in br ru es it se no fi dk pl be biz me tv gg ly so sh xyz tech site online store blog localhost lan corp svc example test invalid",
    ),
    (
        FUNCTION,
        "the of to in and by on a at for or an is be as it up off out with but so if than that from into me my no not",
    ),
    (
        SOUND,
        "hmm hm mmm mm mhm shh psst pst tsk brb thx pls plz btw tbh wtf lmk rn idk ngl smh mrs nth str hrs yrs lbs kms pts tbd fyi wdym grr brr pfft phr mths dr jr sr st nd rd th www hmmm pm ps",
    ),
    (
        SCALE,
        "hundred thousand million millions billion billions trillion mio mrd millionen milliarden tausend k m bn mn",
    ),
    (
        CODE,
        "import from def class function const let var return if for while public private protected static fn pub use struct impl enum trait package func type interface export async await try catch except elif else switch case break continue raise throw throws yield with lambda namespace using void int string bool float double unsigned char auto template typedef print println printf console select insert update delete create alter drop where begin end declare module require include echo sudo elseif endif fi done then do not new self this super override final abstract extends implements @override del pass assert global nonlocal local mut match loop",
    ),
    (
        CORRECTION,
        "actually correction no wait scratch instead sorry apologies i my oops rather korrektur moment halt stattdessen falsch vielmehr nein correction plutôt non perdón mejor",
    ),
    (
        LEVEL,
        "info debug trace warn warning error fatal notice critical severe verbose pass fail passed failed ok skip skipped success err xfail note hint panic emerg alert",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_parts_are_not() {
        assert_eq!(flags_of(b"Not") & NEGATION, NEGATION);
        assert_eq!(flags_of("FÜR".as_bytes()), flags_of("für".as_bytes()));
        assert_eq!(flags_of(b"nots"), 0);
        assert_eq!(flags_of(b"notwithstanding-and-more"), 0);
        assert_eq!(find(b"is not", 3, 6) & NEGATION, NEGATION);
    }

    #[test]
    fn every_listed_word_fits_and_is_found() {
        let mut n_words = 0;
        for (flags, list) in LISTS {
            for word in list.split_whitespace() {
                assert!(word.len() <= MAX_BYTES, "{word} is too long");
                assert_eq!(flags_of(word.as_bytes()) & flags, *flags, "{word}");
                n_words += 1;
            }
        }
        assert!(n_words < N_SLOTS / 2, "the table gets full");
    }
}
