//! Average linkage over a sparse graph: the nearest two clusters become one, for as long as they are near enough.
//! Knows numbers; refuses to know what they stand for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::similarity::Edge;

/// When clusters stop to grow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Mean similarity of the members of two clusters from which they become one.
    pub threshold: f64,
    /// Members of a cluster, as [`Item::n_members`] counts them.
    pub max_members: usize,
    /// Characters of a cluster.
    pub max_chars: usize,
}

/// What is put into clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// How many members of a cluster it makes.
    pub n_members: usize,
    /// Its length.
    pub n_chars: usize,
}

/// The clusters of two or more items, each ascending, in the order of their first items. Pairs without an edge count
/// as similarity 0. Equal similarities are taken in the order of the items. Time is O(e log e) in the edges.
#[must_use]
pub fn clusters(items: &[Item], edges: &[Edge], limits: Limits) -> Vec<Vec<usize>> {
    let mut forest = Forest::new(items, edges, limits);
    while let Some(near) = forest.heap.pop() {
        let (Reverse(a), Reverse(b)) = (near.a, near.b);
        if forest.nodes[a].is_alive && forest.nodes[b].is_alive {
            forest.merge(a, b);
        }
    }
    let mut clusters: Vec<Vec<usize>> =
        forest.nodes.into_iter().filter(|node| node.is_alive && node.items.len() > 1).map(|node| node.items).collect();
    for cluster in &mut clusters {
        cluster.sort_unstable();
    }
    clusters.sort_unstable();
    clusters
}

/// Two nodes that may become one; the greatest is merged first.
#[derive(Debug, PartialEq)]
struct Near {
    similarity: f64,
    /// Their first items: of equals the earlier ones go first.
    first: Reverse<(usize, usize)>,
    a: Reverse<usize>,
    b: Reverse<usize>,
}

impl Eq for Near {}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.similarity
            .total_cmp(&other.similarity)
            .then_with(|| (self.first, self.a, self.b).cmp(&(other.first, other.a, other.b)))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A cluster in the making; a merge makes a new one.
struct Node {
    is_alive: bool,
    items: Vec<usize>,
    first: usize,
    n_members: usize,
    n_chars: usize,
    /// Other nodes, sorted, with the sum of the similarities of all pairs of items.
    sums: Vec<(usize, f64)>,
}

struct Forest {
    nodes: Vec<Node>,
    heap: BinaryHeap<Near>,
    limits: Limits,
}

impl Forest {
    fn new(items: &[Item], edges: &[Edge], limits: Limits) -> Self {
        let node = |(at, item): (usize, &Item)| Node {
            is_alive: true,
            items: vec![at],
            first: at,
            n_members: item.n_members,
            n_chars: item.n_chars,
            sums: Vec::new(),
        };
        let nodes = items.iter().enumerate().map(node).collect();
        let mut forest = Self { nodes, heap: BinaryHeap::new(), limits };
        for edge in edges {
            forest.nodes[edge.a].sums.push((edge.b, edge.similarity));
            forest.nodes[edge.b].sums.push((edge.a, edge.similarity));
        }
        for node in &mut forest.nodes {
            node.sums.sort_unstable_by_key(|&(other, _)| other);
        }
        for edge in edges {
            forest.offer(edge.a, edge.b, edge.similarity);
        }
        forest
    }

    /// Puts a pair on the heap when it may become one.
    fn offer(&mut self, a: usize, b: usize, sum: f64) {
        let (x, y) = (&self.nodes[a], &self.nodes[b]);
        let similarity = sum / (x.items.len() * y.items.len()) as f64;
        let fits =
            x.n_members + y.n_members <= self.limits.max_members && x.n_chars + y.n_chars <= self.limits.max_chars;
        if fits && similarity >= self.limits.threshold {
            let first = Reverse((x.first.min(y.first), x.first.max(y.first)));
            self.heap.push(Near { similarity, first, a: Reverse(a), b: Reverse(b) });
        }
    }

    fn merge(&mut self, a: usize, b: usize) {
        let new = self.nodes.len();
        let (sums_a, sums_b) = (self.retire(a), self.retire(b));
        let sums = joined(&sums_a, &sums_b, &[a, b]);
        let mut items = std::mem::take(&mut self.nodes[a].items);
        items.append(&mut self.nodes[b].items);
        let (x, y) = (&self.nodes[a], &self.nodes[b]);
        let node = Node {
            is_alive: true,
            items,
            first: x.first.min(y.first),
            n_members: x.n_members + y.n_members,
            n_chars: x.n_chars + y.n_chars,
            sums: sums.clone(),
        };
        self.nodes.push(node);
        for (other, sum) in sums {
            let theirs = &mut self.nodes[other].sums;
            theirs.retain(|&(known, _)| known != a && known != b);
            // The newest node has the greatest number: the list stays sorted.
            theirs.push((new, sum));
            self.offer(new, other, sum);
        }
    }

    fn retire(&mut self, node: usize) -> Vec<(usize, f64)> {
        self.nodes[node].is_alive = false;
        std::mem::take(&mut self.nodes[node].sums)
    }
}

/// The sums of two nodes as those of one; `without` are the two.
fn joined(a: &[(usize, f64)], b: &[(usize, f64)], without: &[usize]) -> Vec<(usize, f64)> {
    let mut all: Vec<(usize, f64)> = a.iter().chain(b).filter(|(other, _)| !without.contains(other)).copied().collect();
    // Stable: the sum of `a` comes first.
    all.sort_by_key(|&(other, _)| other);
    all.chunk_by(|x, y| x.0 == y.0).map(|same| (same[0].0, same.iter().map(|(_, sum)| sum).sum())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Limits = Limits { threshold: 0.3, max_members: usize::MAX, max_chars: usize::MAX };
    const ONE: Item = Item { n_members: 1, n_chars: 1 };

    /// Average linkage by the book: all pairs, again and again.
    fn naive(n: usize, similarity: &impl Fn(usize, usize) -> f64, threshold: f64) -> Vec<Vec<usize>> {
        let mut clusters: Vec<Vec<usize>> = (0..n).map(|at| vec![at]).collect();
        loop {
            let mut best: Option<(f64, usize, usize)> = None;
            for x in 0..clusters.len() {
                for y in x + 1..clusters.len() {
                    let pairs = || clusters[x].iter().flat_map(|&a| clusters[y].iter().map(move |&b| similarity(a, b)));
                    let mean = pairs().sum::<f64>() / pairs().count() as f64;
                    if mean >= threshold && best.is_none_or(|(other, ..)| mean > other + 1e-12) {
                        best = Some((mean, x, y));
                    }
                }
            }
            let Some((_, x, y)) = best else { break };
            let mut gone = clusters.remove(y);
            clusters[x].append(&mut gone);
            clusters[x].sort_unstable();
            clusters.sort_unstable();
        }
        clusters.retain(|cluster| cluster.len() > 1);
        clusters
    }

    #[test]
    fn the_heap_merges_what_comparing_all_pairs_merges() {
        for seed in 1..40_usize {
            let n = 12;
            let similarity = |a: usize, b: usize| {
                let (a, b) = (a.min(b), a.max(b));
                let mixed = (a * 31 + b * 17 + seed * 101).wrapping_mul(2_654_435_761) >> 7;
                (mixed % 997) as f64 / 997.0
            };
            let edge = |(a, b)| Edge { a, b, similarity: similarity(a, b) };
            let edges: Vec<Edge> = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).map(edge).collect();
            let found = clusters(&vec![ONE; n], &edges, Limits { threshold: 0.55, ..OPEN });
            assert_eq!(found, naive(n, &similarity, 0.55), "seed {seed}");
        }
    }

    #[test]
    fn limits_hold_and_equals_go_in_order() {
        let edges: Vec<Edge> = (0..5).flat_map(|a| (a + 1..5).map(move |b| Edge { a, b, similarity: 0.5 })).collect();
        assert_eq!(clusters(&[ONE; 5], &edges, Limits { max_members: 2, ..OPEN }), [vec![0, 1], vec![2, 3]]);
        assert_eq!(clusters(&[ONE; 5], &edges, Limits { max_chars: 3, ..OPEN }), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(clusters(&[ONE; 5], &edges, OPEN), [vec![0, 1, 2, 3, 4]]);
        assert_eq!(clusters(&[ONE; 5], &edges, Limits { threshold: 0.51, ..OPEN }), [[0; 0]; 0]);
    }
}
