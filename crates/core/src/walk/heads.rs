//! Heads of what is shown: the file of a hunk, the path of a match, the folder of a name, the names of the cells of a row. Knows
//! lines and what they are to each other; refuses to know formats.

use super::formats::LineRole;
use super::units::{Unit, Units, state};

/// Shows the heads without which what is shown beneath them says little, and gives the lines of the other heads of what is shown.
pub(super) fn mark(units: &mut Units, roles: &[LineRole]) -> Vec<usize> {
    // The heads of the line at hand, the outermost first, and how many of them are dealt with.
    let mut heads: Vec<usize> = Vec::new();
    let mut n_done = 0;
    let mut wanted = Vec::new();
    for at in 0..roles.len() {
        let role = roles[at];
        if role.level > 0 {
            let n = heads.partition_point(|&head| roles[head].level < role.level);
            heads.truncate(n);
            n_done = n_done.min(n);
        }
        if n_done < heads.len() && is_shown(units, at) {
            for &head in &heads[n_done..] {
                if roles[head].is_needed {
                    let unit = units.first[head] as usize;
                    units.units[unit].state |= state::SKELETON;
                } else {
                    wanted.push(head);
                }
            }
            n_done = heads.len();
        }
        if role.level > 0 {
            heads.push(at);
        }
    }
    wanted
}

fn is_shown(units: &Units, line: usize) -> bool {
    units.units[units.first[line] as usize..units.first[line + 1] as usize].iter().any(Unit::is_shown)
}
