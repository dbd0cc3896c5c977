//! Sentences said in other words that mean the same, and in ones that do not. Knows tokens; refuses to know what the
//! engine makes of them.

#![expect(clippy::string_slice, reason = "the tokens that are cut are ASCII")]

/// A change of a sentence: the new sentence and what is new in it; `None` where it does not apply.
pub struct Change {
    pub name: &'static str,
    pub apply: fn(&str) -> Option<(String, String)>,
}

const fn change(name: &'static str, apply: fn(&str) -> Option<(String, String)>) -> Change {
    Change { name, apply }
}

/// Texts with every kind of fact.
pub const TEXTS: [&str; 7] = [
    "We looked into the outage of the billing service again on 2024-03-03. The connection pool in src/db/pool.ts was \
     raised from 20 to 1,200 connections, and fetchInvoices() no longer times out after 30.50 seconds. The three retries \
     made things worse, so they were not kept. The ticket KMS-7781 and issue #142 stay open until the dashboards at \
     https://status.example.com/billing/overview show a full week without alerts. At 14:30 the rate of errors was 15% \
     and the queue had 48213 entries; the job took 30s of 250 ms slices and 512MB of memory, which cost $4,500.",
    "Commit 9f2c41e7ab305d61c8e2 was reverted by ops@example.com because v22.3.1 broke `parseManifest` on hosts such as \
     db-01.example.org:6379. The address 10.0.12.7 answered within 80 ms, yet the backup of 12.5 GB never ended. Please \
     do not restart WorkerPoolManager before 09:15:42, and keep MAX_RETRY_COUNT at 7. The error in lib/core/engine.rs:418 \
     is known since 2023-11-28 and was reported in PR 2741 with a patch of 1600 lines. It seems that user_session_id \
     was empty in 3.75% of the requests, about 20480 in total, and the price was €99.90 each. We talked about \
     it for a long while and everybody was of the opinion that this should never have happened in the first place.",
    "well, the harbour office rang twice about the mooring of the Kittiwake, and the man there was not pleased. \
     he said \"nobody moves a boat of 14 metres without the pilot\", and that the fee of 85 euros is still open since May. \
     we told him that the pilot was asked on Tuesday and did not answer; he will look into it with his colleagues. \
     until then the boat stays at berth 27, and the gate is locked at 21:30. nobody should start the engine before that.",
    "Nach dem Ausfall am 3. Oktober 2023 wurde der Haushalt um 12,5 Millionen Euro erhöht, und 4.200 Anträge blieben \
     liegen. Die Sitzung begann um 9:30 Uhr und dauerte 45 Minuten; zwölf Abgeordnete fehlten. Der Anteil lag bei 37,5 \
     Prozent, nachdem im Jahr 2019 noch 1.250.000 Menschen betroffen waren. Wir sind der Meinung, dass das nicht so \
     bleiben darf und dass die Regierung endlich handeln muss, weil die Kosten weiter steigen werden.",
    "La réunion du 14 juillet 2022 a duré 90 minutes et le budget de 3 500 000 euros n'a pas été adopté. Nous avons \
     constaté que 25 % des demandes restent ouvertes, soit 1 340 dossiers, et que le fichier config/app.yaml n'a pas été \
     modifié depuis 18 mois. Les trois équipes se retrouvent à 16:45 dans la salle 204 pour en parler encore une fois et \
     pour décider de la suite des travaux qui ont été commencés au printemps.",
    "我们在2024年3月5日检查了订单服务的故障，连接数从20提高到1200，请求在30秒之后不再超时。负责人说费用是4500元，占预算的15%，\
     还有3万名用户受到影响。会议在14:30开始，一共讨论了\
     六个问题，大家同意在下周之前不要重新启动服务，因为备份还没有完成。我们认为重试让情况变得更糟，所以已经去掉了这些重试。大家还谈到了\
     天气和周末的安排，有人说想去公园散步，有人说想在家里休息，也有人想去看一部新的电影。最后大家都觉得这次会议开得很好，\
     气氛也很轻松，希望以后能够多一些这样的交流，让每个人都有机会说出自己的想法，也能听到别人不同的意见和建议。",
    "The flight HAT204 leaves at 6:40 pm on May 12 and costs 389 dollars for two passengers; the reservation ZFA04Y was \
     paid with the card ending in 7521. The customer lives 35 miles from the airport and has 2 bags of 23 kg each. She \
     wrote to help@airline.example.com on 05/02/2024 and called 555-123-4567 twice. The refund of $1,250.75 takes 5 to 7 \
     business days, and the certificate of 10% is valid for 365 days. The agent did not cancel the booking.",
];

pub const EXTRACTS: [Change; 1] = [change("extract", |sentence| Some((format!("{sentence} "), String::new())))];

pub const TRUE: [Change; 36] = [
    change("separators of thousands added", |s| {
        tokens(s, |t| (is_digits(t) && (5..8).contains(&t.len()) && !t.starts_with('0')).then(|| grouped(t, ',')))
    }),
    change("separators of thousands removed", |s| tokens(s, |t| is_grouped(t).then(|| t.replace(',', "")))),
    change("thousands as 1.2k", |s| {
        tokens(s, |t| {
            t.replace(',', "")
                .strip_suffix("00")
                .filter(|n| is_digits(n) && n.len() == 2)
                .map(|n| format!("{}.{}k", &n[..1], &n[1..]))
        })
    }),
    change("zeros behind the point dropped", |s| {
        tokens(s, |t| {
            (is_decimal(t) && t.ends_with('0')).then(|| t.trim_end_matches('0').trim_end_matches('.').to_owned())
        })
    }),
    change("3 for three", |s| {
        tokens(s, |t| {
            ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
                .iter()
                .position(|w| *w == t.to_lowercase())
                .filter(|n| *n > 1)
                .map(|n| n.to_string())
        })
    }),
    change("3 for drei, trois", |s| {
        tokens(s, |t| {
            [
                ("drei", "3"),
                ("zwei", "2"),
                ("vier", "4"),
                ("zwölf", "12"),
                ("trois", "3"),
                ("fünf", "5"),
                ("sechs", "6"),
                ("zwanzig", "20"),
            ]
            .iter()
            .find(|(w, _)| *w == t)
            .map(|(_, n)| (*n).to_owned())
        })
    }),
    change("3 for 三", |s| {
        ["一", "两", "三", "四", "五", "六", "七", "八", "九", "十"]
            .iter()
            .enumerate()
            .filter(|(_, w)| s.contains(**w) && !s.contains("十"))
            .map(|(n, w)| (s.replacen(*w, &(n + 1).to_string(), 1), String::new()))
            .next()
    }),
    change("numbered list", |s| Some((format!("done:\n1. {s}\n2) {s}\n**3.** {s}"), String::new()))),
    change("bullets and bold", |s| Some((format!("\n## Notes\n- **{s}**\n* _{s}_"), String::new()))),
    change("numbered headings and (1) (2)", |s| {
        Some((format!("\n### 1. Notes\n- 1. {s}\nDone: (1) {s}; (2) {s}\nStep 1: {s}"), String::new()))
    }),
    change("quotation marks changed", |s| s.contains('"').then(|| (s.replace('"', "“"), String::new()))),
    change("capital first", |s| {
        let mut c = s.chars();
        let first = c.next()?;
        let word = s.split(' ').next()?;
        (first.is_lowercase() && word.chars().all(char::is_alphabetic))
            .then(|| (format!("{}{}", first.to_uppercase(), c.as_str()), String::new()))
    }),
    change("plural of a word", |s| {
        tokens(s, |t| {
            (t.len() > 4 && t.bytes().all(|b| b.is_ascii_lowercase()) && !t.ends_with('s')).then(|| format!("{t}s"))
        })
    }),
    change("plural of an identifier", |s| tokens(s, |t| is_camel(t).then(|| format!("{t}s")))),
    change("identifier in backticks", |s| tokens(s, |t| (is_camel(t) || is_snake(t)).then(|| format!("`{t}`")))),
    change("identifier with ()", |s| tokens(s, |t| (is_camel(t) || is_snake(t)).then(|| format!("{t}()")))),
    change("identifier without ()", |s| tokens(s, |t| t.strip_suffix("()").map(str::to_owned))),
    change("identifier's genitive", |s| tokens(s, |t| (is_camel(t) || is_snake(t)).then(|| format!("{t}'s")))),
    change("path shortened", |s| {
        tokens(s, |t| {
            let parts: Vec<&str> = t.split('/').collect();
            (parts.len() > 2 && is_path(t)).then(|| parts[parts.len() - 2..].join("/"))
        })
    }),
    change("path to its last part", |s| {
        tokens(s, |t| is_path(t).then(|| t.rsplit('/').next().unwrap_or("").to_owned()))
    }),
    change("line of a file in words", |s| {
        tokens(s, |t| {
            let (path, line) = t.split_once(':')?;
            (is_digits(line) && path.contains('.')).then(|| format!("{path} (line {line})"))
        })
    }),
    change("percent with a space", |s| {
        tokens(s, |t| t.strip_suffix('%').filter(|n| is_amount(n)).map(|n| format!("{n} %")))
    }),
    change("percent in words", |s| {
        tokens(s, |t| t.strip_suffix('%').filter(|n| is_amount(n)).map(|n| format!("{n} percent")))
    }),
    change("date: March 3, 2024", |s| tokens(s, |t| iso(t).map(|(y, m, d)| format!("{} {d}, {y}", MONTHS[m - 1])))),
    change("date: 3 March", |s| tokens(s, |t| iso(t).map(|(_, m, d)| format!("{d} {}", MONTHS[m - 1])))),
    change("date: 3. März 2024", |s| tokens(s, |t| iso(t).map(|(y, m, d)| format!("{d}. {} {y}", GERMAN[m - 1])))),
    change("date: 2024年3月3日", |s| tokens(s, |t| iso(t).map(|(y, m, d)| format!("{y}年{m}月{d}日")))),
    change("time: 2:30 pm", |s| {
        tokens(s, |t| clock(t).filter(|(h, ..)| *h > 12).map(|(h, m)| format!("{}:{m:02} pm", h - 12)))
    }),
    change("time without seconds", |s| tokens(s, |t| (t.len() == 8 && clock(t).is_some()).then(|| t[..5].to_owned()))),
    change("currency behind", |s| {
        tokens(s, |t| t.strip_prefix('$').filter(|n| is_amount(n)).map(|n| format!("{n} USD")))
    }),
    change("currency in words", |s| {
        tokens(s, |t| t.strip_prefix('$').filter(|n| is_amount(n)).map(|n| format!("{n} dollars")))
    }),
    change("unit with a space", |s| tokens(s, |t| with_unit(t).map(|(n, u)| format!("{n} {u}")))),
    change("unit in words", |s| {
        tokens(s, |t| with_unit(t).and_then(|(n, u)| Some(format!("{n} {}", UNITS.iter().find(|x| x.0 == u)?.1))))
    }),
    change("unit without a space", |s| {
        pairs(s, |n, u| (is_amount(n) && UNITS.iter().any(|x| x.0 == u)).then(|| format!("{n}{u}")))
    }),
    change("hash shortened", |s| tokens(s, |t| is_hash(t).then(|| t[..7].to_owned()))),
    change("ticket in words", |s| {
        tokens(s, |t| t.strip_prefix('#').filter(|n| is_digits(n)).map(|n| format!("issue {n}")))
    }),
];

pub const FALSE: [Change; 27] = [
    change("a digit of a number changed", |s| tokens(s, |t| (is_digits(t) && t.len() > 1).then(|| bumped(t)))),
    change("a digit of a one-digit number", |s| tokens(s, |t| (is_digits(t) && t.len() == 1).then(|| bumped(t)))),
    change("digits swapped", |s| {
        tokens(s, |t| {
            let b = t.as_bytes();
            (is_digits(t) && t.len() > 1 && b[0] != b[1] && b[1] != b'0')
                .then(|| format!("{}{}{}", b[1] as char, b[0] as char, &t[2..]))
        })
    }),
    change("ten times as much", |s| tokens(s, |t| (is_digits(t) && t != "0").then(|| format!("{t}0")))),
    change("decimal point moved", |s| {
        tokens(s, |t| {
            let (a, b) = t.split_once('.')?;
            (is_digits(a) && is_digits(b) && a.len() > 1).then(|| format!("{}.{}{b}", &a[..1], &a[1..]))
        })
    }),
    change("a digit behind the point changed", |s| tokens(s, |t| is_decimal(t).then(|| bumped(t)))),
    change("unit swapped, adjoining", |s| {
        tokens(s, |t| with_unit(t).and_then(|(n, u)| Some(format!("{n}{}", UNITS.iter().find(|x| x.0 == u)?.2))))
    }),
    change("unit swapped, behind a space", |s| {
        pairs(s, |n, u| {
            let u = UNITS.iter().find(|x| x.0 == u || x.1 == u)?;
            (is_amount(n) && n.contains(|c| matches!(c, '1'..='9'))).then(|| format!("{n} {}", u.2))
        })
    }),
    change("currency swapped", |s| {
        tokens(s, |t| t.strip_prefix('$').filter(|n| is_amount(n)).map(|n| format!("€{n}")))
    }),
    change("percent changed", |s| {
        tokens(s, |t| t.strip_suffix('%').filter(|n| is_amount(n)).map(|n| format!("{}%", bumped(n))))
    }),
    change("path component changed", |s| {
        tokens(s, |t| {
            let (dir, file) = t.rsplit_once('/')?;
            is_path(t).then(|| format!("{dir}x/{file}"))
        })
    }),
    change("file of a path changed", |s| {
        tokens(s, |t| {
            let (dir, file) = t.rsplit_once('/')?;
            let (_, e) = file.rsplit_once('.')?;
            is_path(t).then(|| format!("{dir}/client.{e}"))
        })
    }),
    change("letter of a camelCase name", |s| tokens(s, |t| is_camel(t).then(|| lettered(t)).filter(|t| is_camel(t)))),
    change("letter of a snake_case name", |s| tokens(s, |t| is_snake(t).then(|| lettered(t)))),
    change("other camelCase name", |s| tokens(s, |t| is_camel(t).then(|| "retryPolicyFor".to_owned()))),
    change("camelCase name cut", |s| {
        tokens(s, |t| (is_camel(t) && t.len() > 8).then(|| t[..t.len() - 2].to_owned()).filter(|t| is_camel(t)))
    }),
    change("day of a date", |s| tokens(s, |t| iso(t).map(|(y, m, d)| format!("{y}-{m:02}-{:02}", d % 28 + 1)))),
    change("month of a date, in words", |s| {
        tokens(s, |t| iso(t).map(|(y, m, d)| format!("{} {d}, {y}", MONTHS[m % 12])))
    }),
    change("minute of a time", |s| {
        tokens(s, |t| clock(t).filter(|_| t.len() == 5).map(|(h, m)| format!("{h:02}:{:02}", (m + 1) % 60)))
    }),
    change("hour of a time, am for pm", |s| {
        tokens(s, |t| clock(t).filter(|(h, _)| *h > 12).map(|(h, m)| format!("{}:{m:02} am", h - 12)))
    }),
    change("version", |s| {
        tokens(s, |t| {
            let v = t.strip_prefix('v').unwrap_or(t);
            (v.split('.').count() == 3 && v.split('.').all(is_digits)).then(|| bumped(t))
        })
    }),
    change("ticket", |s| {
        tokens(s, |t| {
            let (a, n) = t.split_once('-')?;
            (a.len() > 1 && a.bytes().all(|b| b.is_ascii_uppercase()) && is_digits(n)).then(|| bumped(t))
        })
    }),
    change("number of an issue", |s| {
        tokens(s, |t| t.strip_prefix('#').filter(|n| is_digits(n)).map(|n| format!("#{}", bumped(n))))
    }),
    change("URL", |s| {
        tokens(s, |t| {
            let rest = t.strip_prefix("https://")?;
            (rest.split('/').count() > 2 && rest.ends_with(|c: char| c.is_ascii_lowercase())).then(|| lettered(t))
        })
    }),
    change("e-mail", |s| {
        tokens(s, |t| {
            let (a, b) = t.split_once('@')?;
            (b.contains('.') && !b.contains([':', '/']) && a.len() > 1 && a.bytes().all(|c| c.is_ascii_lowercase()))
                .then(|| format!("{}@{b}", lettered(a)))
        })
    }),
    change("digit of a hash", |s| {
        tokens(s, |t| {
            is_hash(t).then(|| {
                let at = t.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
                format!("{}{}{}", &t[..at], bumped(&t[at..=at]), &t[at + 1..])
            })
        })
    }),
    change("part of another number", |s| {
        tokens(s, |t| {
            let n = t.replace(',', "");
            (is_digits(&n) && n.len() > 3).then(|| n[1..].trim_start_matches('0').to_owned()).filter(|n| n.len() > 1)
        })
    }),
];

/// Words that nobody can find wrong without understanding them.
pub const UNSEEN: [Change; 1] = [change("not removed", |s| pairs(s, |n, word| (n == "not").then(|| word.to_owned())))];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const GERMAN: [&str; 12] = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];
/// A unit, its name, and another one.
const UNITS: [(&str, &str, &str); 9] = [
    ("s", "seconds", "ms"),
    ("ms", "milliseconds", "s"),
    ("min", "minutes", "s"),
    ("MB", "megabytes", "GB"),
    ("GB", "gigabytes", "MB"),
    ("KB", "kilobytes", "MB"),
    ("h", "hours", "min"),
    ("kg", "kilograms", "g"),
    ("days", "days", "hours"),
];

/// Sentences of 20 to 400 characters with white space collapsed; at least one.
pub fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = String::new();
    for piece in text.split_inclusive(['\n', '。', '！', '？']).flat_map(|line| line.split_inclusive(". ")) {
        at.push_str(piece);
        let flat = at.split_whitespace().collect::<Vec<_>>().join(" ");
        if flat.chars().count() >= 20 {
            found.extend((flat.chars().count() <= 400).then_some(flat));
            at.clear();
        }
    }
    if found.is_empty() {
        found.push(text.split_whitespace().take(20).collect::<Vec<_>>().join(" "));
    }
    found
}

/// True when `token` stands in `text` with no letter, digit, dot or comma that joins it to more.
pub fn has_token(text: &str, token: &str) -> bool {
    !token.is_empty()
        && text.match_indices(token).any(|(at, _)| {
            let before = text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
            before && text[at + token.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric())
        })
}

/// Changes the first token that `f` takes, without the punctuation around it.
fn tokens(sentence: &str, f: impl Fn(&str) -> Option<String>) -> Option<(String, String)> {
    sentence.split(' ').find_map(|word| {
        let from = |c: char| !c.is_alphanumeric() && !matches!(c, '$' | '#' | '/' | '_' | '.' | '~' | '-');
        let core = word.trim_start_matches(from).trim_end_matches(['.', ',', ';', ':', '"', '*', '`', '\'', '!', '?']);
        let core = core.trim_end_matches([']', '}', '`', '"']);
        let core = if core.contains('(') { core } else { core.trim_end_matches(')') };
        let new = f(core).filter(|_| !core.is_empty())?;
        Some((sentence.replacen(core, &new, 1), new))
            .filter(|_| sentence.find(core) == sentence.find(word).map(|at| at + word.find(core).unwrap_or(0)))
    })
}

/// Changes the first two tokens that `f` takes.
fn pairs(sentence: &str, f: impl Fn(&str, &str) -> Option<String>) -> Option<(String, String)> {
    let words: Vec<&str> = sentence.split(' ').collect();
    words.windows(2).find_map(|pair| {
        let second = pair[1].trim_end_matches(['.', ',', ';', ')']);
        let new = f(pair[0], second)?;
        Some((sentence.replacen(&format!("{} {second}", pair[0]), &new, 1), new))
    })
}

fn is_digits(t: &str) -> bool {
    !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit())
}
fn is_decimal(t: &str) -> bool {
    t.split_once('.').is_some_and(|(a, b)| is_digits(a) && is_digits(b))
}
fn is_grouped(t: &str) -> bool {
    t.contains(',')
        && t.split(',').enumerate().all(|(at, g)| is_digits(g) && (at == 0 && g.len() < 4 || at > 0 && g.len() == 3))
}
fn is_amount(t: &str) -> bool {
    is_digits(t) || is_decimal(t) || is_grouped(t)
}
fn grouped(t: &str, sign: char) -> String {
    let mut out = String::new();
    for (at, c) in t.chars().enumerate() {
        if at > 0 && (t.len() - at).is_multiple_of(3) {
            out.push(sign);
        }
        out.push(c);
    }
    out
}
fn is_camel(t: &str) -> bool {
    t.len() > 4
        && t.bytes().all(|b| b.is_ascii_alphabetic())
        && t.starts_with(|c: char| c.is_ascii_lowercase())
        && t.bytes().any(|b| b.is_ascii_uppercase())
        && t.ends_with(|c: char| c.is_ascii_lowercase())
}
fn is_snake(t: &str) -> bool {
    t.len() > 4
        && t.contains('_')
        && t.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        && t.ends_with(|c: char| c != '_')
        && !t.starts_with('_')
}
fn is_path(t: &str) -> bool {
    let Some((_, file)) = t.rsplit_once('/') else { return false };
    let Some((stem, extension)) = file.rsplit_once('.') else { return false };
    !stem.is_empty()
        && ["rs", "ts", "py", "go", "md", "json", "yaml", "js", "tsx", "toml"].contains(&extension)
        && !t.contains("//")
        && t.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'_' | b'-'))
}
fn is_hash(t: &str) -> bool {
    t.len() > 8
        && t.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        && t.bytes().any(|b| b.is_ascii_digit())
        && t.bytes().any(|b| b.is_ascii_alphabetic())
}
fn with_unit(t: &str) -> Option<(&str, &str)> {
    let (number, unit) = t.split_at(t.find(|c: char| c.is_ascii_alphabetic())?);
    (is_amount(number) && UNITS.iter().any(|x| x.0 == unit)).then_some((number, unit))
}
fn iso(t: &str) -> Option<(u32, usize, u32)> {
    let mut parts = t.split('-');
    let (y, m, d) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || (y.len(), m.len(), d.len()) != (4, 2, 2) {
        return None;
    }
    let found: (u32, usize, u32) = (y.parse().ok()?, m.parse().ok()?, d.parse().ok()?);
    ((1..=12).contains(&found.1) && (1..=31).contains(&found.2)).then_some(found)
}
fn clock(t: &str) -> Option<(u32, u32)> {
    let parts: Vec<&str> = t.split(':').collect();
    if parts.len() < 2 || parts.len() > 3 || parts.iter().any(|p| p.len() != 2 || !is_digits(p)) {
        return None;
    }
    let (h, m) = (parts[0].parse().ok()?, parts[1].parse().ok()?);
    (h < 24 && m < 60).then_some((h, m))
}
/// With another last digit.
fn bumped(t: &str) -> String {
    let (head, last) = t.split_at(t.len() - 1);
    format!("{head}{}", (last.parse::<u32>().unwrap_or(0) + 3) % 10)
}
/// With another letter near its end.
fn lettered(t: &str) -> String {
    let at = t.len() - 2;
    let new = if t.as_bytes()[at] == b'x' { 'k' } else { 'x' };
    format!("{}{new}{}", &t[..at], &t[at + 1..])
}
