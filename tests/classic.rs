//! The documented engine: what the preset `classic` makes of a corpus, alone and with what may stand beside it, stays what it
//! was, however compaction by use goes on.

use condenser::engine::{Engine, Scratch};
use condenser::model::{AdapterName, EngineArgs, EngineOptions, Preset, ProvenancePlace};
use condenser::shape;
use rayon::prelude::*;

use crate::support::chats::records;
use crate::support::corpora;

/// Hashes of what the preset makes of a corpus: as it is, without a window and with its stages on, within a budget.
const FROZEN: &[(&str, [&str; 3])] = &[
    ("agents", ["7732fe7f9e724629", "1321b9e89079c11b", "f3dfdba8267c2b68"]),
    ("coding", ["74d7c80680f2b378", "f9431a4b66d9ff90", "cc8169f0e74096ee"]),
    ("languages", ["79db0b73bd15dfd6", "e23f27c2d04aa340", "f4df6c04ce94bde4"]),
    ("meetings", ["9953dc7c20fcd54e", "62fe08a279463b16", "2b45c99ebbd56de0"]),
    ("parts", ["f1b9390be7d8178b", "1e62320fd6061cc8", "a7b7a6219cd779ef"]),
    ("prose", ["540a4927b0b17333", "e17e278816294ce8", "83f9a74d26a98318"]),
    ("rounds.cce", ["727c7ad9318eed84", "90c1132baeb0982a", "b8c1ceba9ad9691d"]),
    ("service", ["bfed6fc2ece2e720", "39a9327b82c30158", "f848411492725dae"]),
    ("sharegpt", ["57e7b48633a24cd8", "a7b518c50c9397c2", "090639b8bbb25d37"]),
    ("generated", ["bb92b575d9626c0b", "f6201b8137eb4f88", "18e26c9418aed358"]),
    ("anthropic", ["45bc8e6ed5f66c46", "7cbc81873a4de2d5", "e04559fad46e5636"]),
    ("observations", ["ea3da82ff1dbf6a8", "246ef36034328fd0", "d123171728a311e2"]),
    ("openai", ["ee62a94d2a05e324", "8505cfa91fa9e9bd", "3158135c7a065ac2"]),
    ("bundestag_dev", ["4bb4ef3c1dd65a0c", "97ceae9ed62c4ed6", "e43a08304fc2642c"]),
    ("cc_entire_cli", ["2e934b1680a1664a", "eeae468a3de73e54", "a25c216c343f6760"]),
    ("cc_gitsync", ["d3ba1a4b31f7be2d", "85be3d1544f61cdd", "7134b6dbf07d9f4f"]),
    ("codex_gitsync", ["8c3f5ae58da2035a", "bdc3945a3eeaa2e8", "755906131d935911"]),
    ("kdconv", ["47a00dc154855df6", "47a00dc154855df6", "a6b14f9f2e38385a"]),
    ("mtbench_arena", ["91d2a08833aa6189", "4743453cc5d1edc5", "d2835a111be21845"]),
    ("openhands_swebench", ["c03b50bb0d52e04c", "9da5a628b6321b6b", "23c52cd4b65dd99e"]),
    ("pi_sessions", ["1a74dcb5f0602a07", "00add7d14d236251", "ce19273f0f966bfc"]),
    ("qmsum_academic_product", ["4f9274b8b5831495", "d0b0b01c3666f5bb", "af62ce97cf851471"]),
    ("realpersonachat_dev", ["b1c62c0e319dc195", "b1c62c0e319dc195", "b1c62c0e319dc195"]),
    ("sgd", ["092e6bbb6b01284b", "da993a97722e53ef", "f89630be32fa6b13"]),
    ("sharegpt_tools", ["c5ecdeb62a502bed", "a804e229e3dce41f", "dd87cc43f2ab2749"]),
    ("sweagent_demos", ["a6f652b09ddc7533", "00cde31082f0dae0", "fd49d8efb09ec6e9"]),
    ("tau_dev", ["812e5b0403993cbd", "fa0cc7d6baf6b4f7", "dc5bac2fded7bf40"]),
    ("topicalchat", ["0c2e7d9b55aa1e6c", "b50f281c822debe2", "c84a93dd3f4569b0"]),
    ("ubuntu_irc", ["8bd21f53c9a3ff66", "22658b1895eee2bc", "c2d140c751fd95cd"]),
];

fn sets() -> [EngineOptions; 3] {
    let classic = EngineArgs { preset: Some(Preset::Classic), ..EngineArgs::default() };
    let staged = EngineArgs {
        recency_window: Some(0),
        fuzzy_dedup: Some(true),
        importance_scoring: Some(true),
        contradiction_detection: Some(true),
        conversation_flow: Some(true),
        semantic_clustering: Some(true),
        coreference: Some(true),
        agent_tool_prepass: Some(true),
        adapters: Some(AdapterName::ALL.to_vec()),
        ..classic.clone()
    };
    let budget = EngineArgs { token_budget: Some(1_500), force_converge: Some(true), ..classic.clone() };
    [classic, staged, budget].map(|args| args.over(EngineOptions::default()))
}

/// One hash of all conversations of a corpus, as they are written.
fn hash(lines: &[String], engine: &Engine) -> String {
    let one = |scratch: &mut Scratch, line: &String| {
        let shape = shape::detect(line).expect("a known shape");
        let decoded = shape::decode(line, shape, "c").expect("a conversation");
        let condensed = engine.condense(&decoded.conversation, scratch);
        decoded.condensed_record(&condensed, ProvenancePlace::Metadata)
    };
    let written: Vec<String> = lines.par_iter().map_init(Scratch::default, one).collect();
    let mut hasher = blake3::Hasher::new();
    for record in &written {
        hasher.update(record.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex().chars().take(16).collect()
}

#[test]
fn what_the_preset_makes_of_corpora_is_frozen() {
    let engines = sets().map(|options| Engine::new(options).expect("options"));
    let generated = ("generated".to_owned(), records(300, 5));
    let mut n_known = 0;
    for (name, lines) in corpora::lines().into_iter().chain([generated]) {
        let found = engines.each_ref().map(|engine| hash(&lines, engine));
        println!("    (\"{name}\", {found:?}),");
        let Some((_, frozen)) = FROZEN.iter().find(|(corpus, _)| *corpus == name) else { continue };
        n_known += 1;
        assert_eq!(found, *frozen, "{name}");
    }
    assert!(n_known > 8, "{n_known}");
}
