(** The checker as an OCaml program: `proofs/extraction/main.ml` reads documents for it. *)

From Coq Require Import NArith List Extraction ExtrOcamlBasic.
From Podreach Require Import Configuration Guard Rules Search Replay Cluster.

Extraction Language OCaml.
Extraction "proved.ml" accepts_never accepts_trace lets_in lookup sensible N.add N.mul N.of_nat N.to_nat Pos.of_succ_nat.
