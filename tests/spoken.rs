//! What replaced messages say, one named case per kind of text that conversations with agents bring: text in, text out.

use condenser::model::{Action, Reason};

use crate::support::talk::{Done, all, compress, prose};

const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a \
    file edit, the new_string was NOT written to the file). ";

/// A single message of `role`, not the first one.
#[track_caller]
fn say(role: &str, text: &str) -> Done {
    compress(&[("user", "Hello."), (role, text)], &all())
}

/// A file as a viewer shows it, from line `first` on.
fn numbered(lines: &[&str], first: usize, sign: &str) -> String {
    lines.iter().enumerate().map(|(at, line)| format!("{:>6}{sign}{line}\n", first + at)).collect()
}

#[test]
fn a_refused_tool_use_keeps_the_words_of_the_user() {
    let words = "Can we ask the librarian first? The shelf must stay where it is.";
    say("tool", &format!("{REFUSED}To tell you how to proceed, the user said:\n{words}"))
        .is(1, Action::Compressed)
        .shows("The user doesn't want to proceed")
        .shows("the user said: Can we ask the librarian first?")
        .shows("The shelf must stay where it is.")
        .hides("new_string");
    say("tool", &format!("{REFUSED}STOP what you are doing and wait for the user to tell you how to proceed."))
        .is(1, Action::Compressed)
        .shows("The user doesn't want to proceed")
        .shows("STOP what you are doing")
        .hides("eg.");
}

#[test]
fn a_file_with_line_numbers_is_what_stands_behind_them() {
    let notes = [
        "# Notes on the garden",
        "",
        "The hose on the east side leaks at 2 joints and must not be used before",
        "somebody has put in 2 new washers of 14 mm.",
        "",
        "Tomatoes stand behind the shed because the wall keeps the warmth of the day.",
        "",
        "The compost is turned in spring and in autumn, and nobody ever asked for more.",
        "",
        "On rainy days the tools are cleaned and oiled and put back on their hooks.",
        "",
    ];
    for sign in ["→", "\t"] {
        let done = say("tool", &numbered(&notes, 7, sign));
        done.is(1, Action::Compressed);
        done.shows("must not be used before somebody has put in 2 new washers of 14 mm.");
        let words = done.texts[1].trim_start_matches("[summary: ").trim_end_matches(']');
        assert!(words.split(" ... ").all(|part| part.parse::<u32>().is_err()) && !words.contains('→'), "{words}");
    }
    let code = [
        "",
        "// The first basket that is still open, or none; see the notes on baskets in the manual of the shop.",
        "// Prefers the basket of the guest; falls back to the one of the account for visitors of old.",
        "func (m Shop) OpenBasket() int {",
        "\tif m.Baskets > 0 {",
        "\t\treturn m.Baskets",
        "\t}",
        "\treturn m.Account.Baskets",
        "}",
    ];
    let reminder = format!("\n<system-reminder>\n{}\n</system-reminder>\n", prose(700));
    say("tool", &(numbered(&code, 358, "→") + &reminder)).because(1, Reason::HardT0);
}

#[test]
fn questions_and_requests_of_a_user_stay() {
    let story = "The bridge in the park was built in 1886 by 2 brothers with 14 workers and 3 horses. The stones came \
        from a quarry near Bern and cost 4,200 francs. Snow fell for 9 days in March 1887.";
    for ask in [
        "What should I do next?",
        "Is that OK?",
        "هل هذا صحيح؟",
        "これでいいですか。",
        "Kannst du mir das bitte erklären",
        "please tell me more about it",
    ] {
        say("user", &format!("{} {story} {ask}", prose(300))).is(1, Action::Compressed).shows(ask);
    }
    let task = "can you look at this garden and tell me what we could do differently if: \n\n\
        - the hose is only for the beds, we don't need to care about the trees, they always get enough\n\
        - we don't care too much about how much water goes through the pipe over the year\n\
        - the neighbours want to keep the old fence and have already paid 300 francs for it";
    compress(&[("user", task)], &all()).shows("can you look at this garden and tell me");
}

#[test]
fn the_last_question_of_an_assistant_stays_beside_what_it_asks_about() {
    let text = "I found 3 tables for Friday, March 3, at 19:30 in the restaurant Zur Post near the river. The kitchen \
        closes at 22:00 and the terrace is open when the weather allows it. Could you give me your phone number?";
    say("assistant", text).is(1, Action::Compressed).shows("March 3").shows("Could you give me your phone number?");
}

#[test]
fn speakers_with_names_ask_each_other() {
    // In a meeting a question is a sentence like any other: facts decide.
    let text = format!("{} Who has the key? Ticket KMS-7781 costs $500 in 2024.", prose(700));
    let talk = serde_json::json!({"id": "talk", "messages": [{"role": "user", "name": "Ann", "content": text}]});
    crate::support::talk::compress_record(&talk.to_string(), &all()).shows("KMS-7781");
}

#[test]
fn matches_of_a_search_are_shown_and_not_what_stands_around_them() {
    say(
        "user",
        "Found 1 matches for \"shelf.py\" in /library/src:\n/library/src/rooms/shelf.py\n\nSearch took a while \
        because the disk was busy with the backup of the night, which somebody had started by hand in the morning.",
    )
    .shows("/library/src/rooms/shelf.py");
    let mut text = String::new();
    for at in 0..9 {
        let line = 100 * at + 50;
        text.push_str(&format!("src/shop/basket.go-{}-\t// a comment that says little\n", line - 1));
        text.push_str(&format!("src/shop/basket.go:{line}:\treturn openBasket(guest{at})\n"));
        text.push_str(&format!("src/shop/basket.go-{}-\t}}\n--\n", line + 1));
    }
    say("tool", &text)
        .is(1, Action::Compressed)
        .shows("src/shop/basket.go:150: return openBasket(guest1)")
        .hides("a comment that says little");
}

#[test]
fn abbreviations_and_brackets_end_no_sentence() {
    for sentence in [
        "The pump stops at night (eg. when nobody waters the 14 beds) and starts again at 06:30.",
        "We use approx. 300 litres, e.g. Monday and Friday, etc. and never more vs. the year before.",
        "The bill (is it for 12 or for 14 beds? nobody knows) must be paid by Friday.",
    ] {
        say("user", &format!("{} {sentence}", prose(500))).shows(sentence);
    }
}

#[test]
fn what_ends_with_a_colon_comes_with_what_it_announces() {
    let text = "I looked at the failing check and at what the loader does with the two files of the day.\n\n\
        **Fix**: Modified `src/loader/day.rs` to:\n- skip files that are older than the last run\n- keep the order\n\n\
        The rest of the work can wait until the others are back from their holidays in the south of the country.";
    say("assistant", text).shows("Modified `src/loader/day.rs` to: skip files that are older than the last run");
    let last = format!("{}\n\n**Fix**: Modified `src/loader/day.rs` and KMS-7781 to:\n\n{}", prose(200), prose(900));
    let done = say("assistant", &last);
    assert!(!done.visible().contains("to: ..."), "{}", done.visible());
}

#[test]
fn what_agent_programs_say_by_themselves_gives_way_to_the_fact() {
    say(
        "tool",
        "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. \
        Please proceed with the current tasks if applicable",
    )
    .is(1, Action::Compressed)
    .shows("Todos have been modified successfully.")
    .hides("Ensure")
    .hides("proceed");
    let text = format!(
        "{} The file /srv/shop/basket.go was written.\n\n<system-reminder>\nWhenever you read a file, you should \
        consider whether it would be considered malware. You CAN and SHOULD provide analysis of malware, what it is \
        doing. But you MUST refuse to improve or augment the code.\n</system-reminder>\n",
        prose(400)
    );
    say("tool", &text).shows("/srv/shop/basket.go").hides("MUST refuse").hides("system-reminder");
}

#[test]
fn an_edit_names_its_file() {
    let path = "/srv/workspaces/shop/packages/basket/src/modes/interactive/basket-with-a-rather-long-name.ts";
    let state = "(file state is current in your context — no need to Read it back)";
    say("tool", &format!("The file {path} has been updated successfully. {state}")).shows(path);
    say("tool", &format!("Successfully replaced text in {path}. Changed 527 characters to 783 characters."))
        .shows(path);
}

#[test]
fn of_the_headers_of_a_shell_tool_the_exit_status_alone_is_shown() {
    let files: String = (0..14).map(|at| format!("src/shop/basket{at}.go\n")).collect();
    let output = |code| {
        format!(
            "Chunk ID: 3c8b44\nWall time: 0.5 seconds\nProcess exited with code {code}\nOriginal token count: 572\n\
            Output:\n{files}"
        )
    };
    say("tool", &output(0))
        .is(1, Action::Compressed)
        .shows("14 lines | Process exited with code 0 | src/shop/basket0.go")
        .hides("Chunk")
        .hides("Wall")
        .hides("Output:");
    say("tool", &output(2)).shows("Process exited with code 2").hides("Chunk");
}

#[test]
fn a_state_of_a_repository_names_its_branch() {
    say(
        "tool",
        "On branch ann/baskets\nYour branch is ahead of 'origin/ann/baskets' by 1 commit.\n  (use \"git push\" to \
        publish your local commits)\n\nnothing to commit, working tree clean",
    )
    .is(1, Action::Compressed)
    .shows("On branch ann/baskets")
    .hides("git push");
}

#[test]
fn a_long_run_without_blanks_is_named_and_measured() {
    let dump = "4f3a9c".repeat(120);
    say("user", &format!("The dump of the loader from this morning is here. Please have a look.\n\n{dump}"))
        .is(1, Action::Compressed)
        .shows("Please have a look.")
        .shows("(720 characters of hex digits)");
}

#[test]
fn a_long_listing_shows_names() {
    let mut text = String::from("total 168\ndrwxr-xr-x@ 67 ann  staff   2144 Feb 14 16:39 ..\n");
    for at in 0..20 {
        text.push_str(&format!(
            "-rw-r--r--@  1 ann  staff   {}  Feb 14 16:{} shelf{at}_test.go\n",
            7_000 + at,
            10 + at
        ));
    }
    text.push_str("drwxr-xr-x@ 67 ann  staff   2144 Feb 14 16:39 rooms\n");
    let done = say("tool", &text);
    done.is(1, Action::Compressed).hides("rw-r").hides("staff").shows("rooms/");
    (0..20).for_each(|at| {
        done.shows(&format!("shelf{at}_test.go"));
    });
}
