// What the page is given: the one JSON value that `podreach::report::html::data` makes.

/** A number, or text where a number would round. */
type Exact = number | string;
/** A pod type on a node, by their numbers in the cluster. */
type Atom = [pod: number, node: number];
/** An amount of a resource. */
type Amount = [resource: number, amount: Exact];
/** How much of a resource a node has; null where that is not known. */
type Capacity = [resource: number, amount: Exact | null];

interface PodType { name: string; weights: Amount[]; says: string[] }
/** What nodes share. Nodes that are yet to come have the pool that they come from. */
interface Form { labels: [string, string][]; taints: string[]; cordoned: boolean; capacity: Capacity[]; comesFrom?: string }
interface Resource { name: string; unit: 'milli' | 'bytes' | 'count' }

interface ClusterData {
  /** A number stands for so many pod types that the page does not describe. */
  pods: (PodType | number)[];
  nodes: [name: string, form: number][];
  forms: Form[];
  resources: Resource[];
  levels: string[];
  /** pod, node, count, pod, node, count, … */
  running: Exact[];
  kept: Exact[];
  /** What runs at first in questions that begin elsewhere. */
  starts: Exact[][];
  /** What is not part of the page, and how to get it. */
  leftOut?: string;
}

interface Obstacle { of: number; rule: string; reason: string }
/** A step is `at` a pod type on a node; of a node alone (`ready`, `uncordon`, `add-node`, `remove-node`), it has the `node`; a pod that is deleted while it waits for one has neither. A pod that begins to terminate `becomes` another type. */
interface Step { op: 'deploy' | 'delete' | 'terminate' | 'ready' | 'uncordon' | 'add-node' | 'remove-node'; says: string; at?: Atom; becomes?: number; node?: number; notes?: string[]; witnesses?: Atom[]; obstacle?: Obstacle }
/** More steps come after those of a long run. */
interface FilmData { steps: Step[]; reached: number | null; more: number }

interface Way { with: Atom[]; hits: number | null }
interface LastData { name: string; why: string; leans: number[]; ways: Way[]; more: number }
interface GroupData { id: number; claim: string; counts: [cls: number, count: number][]; last: LastData[] }
interface ProofData { groups: GroupData[]; goals: number[]; all: number; classes: { members: Atom[]; size: number }[]; others: string[] }

type VerdictName = 'deployable' | 'never' | 'unknown';
interface Answer {
  verdict: VerdictName;
  semantics: string;
  engine: string;
  /** The first alternatives of the goal, and that which the run ends in. */
  goal: Exact[][];
  /** How many alternatives there are. */
  goals: number;
  film: FilmData | null;
  proof: ProofData | null;
  reason: string | null;
  headline?: string;
  /** What the verdict says of the goal, and under which rules and from which start. */
  claim?: string;
  context?: string;
  shows?: string;
  /** What runs at first, by its number among the starts of the page; null where that is what runs in the cluster. */
  start?: number | null;
  /** What is not part of the page, and how to get it. */
  leftOut?: string;
  certificate?: unknown;
}

interface MatrixData {
  semantics: string;
  classes: number[][];
  /** Cells are written as runs: `3yn` is `yyyn`. The others have the same cells, since no rule tells them apart. On the page of a
   * large cluster there are more of them than those listed, and so many pods of these run. */
  rows: [pod: number, cells: string, others: number[], more?: number, running?: number][];
  /** Pairs that are deployable, never, unknown. */
  counts: [number, number, number];
  evidence: [row: number, cls: number, answer: Answer][];
  /** Why not every cell was looked at. */
  stopped?: string;
  /** What evidence is not part of the file, and how to get it. */
  leftOut?: string;
}

interface Finding {
  policy: string; name: string;
  status: 'holds' | 'violated' | 'undecided';
  severity: 'note' | 'warning' | 'error';
  subject: string[]; message: string; explanation: string[]; fix: string | null; evidence: Answer[];
  boundary: { core: string[]; escapes: { edit: string; answer: Answer | null }[]; leftOut: string | null } | null;
}

interface Remark { code: string; effect: string; message: string; help?: string; pod?: string; file?: string; line?: number; column?: number }
interface Assumption { code: string; text: string; about: string[] }

interface PageData {
  generator: string;
  kind: 'check' | 'matrix' | 'audit' | 'serve';
  title: string;
  semantics: string;
  cluster: ClusterData;
  answers: Answer[];
  matrices: MatrixData[];
  findings: Finding[];
  assumptions: Assumption[];
  diagnostics: Remark[];
}

/** What `serve` says about `why`. */
interface WhyData { pod: string; nodes: Record<string, { feasible: boolean; rules: Record<string, { ok: boolean; reason?: string }> }>; doubts?: string[] }
/** A change in the sandbox. */
interface Edit { op: string; node?: string; pod?: string; key?: string; value?: string; effect?: string; name?: string }
interface JobData { id: number; state: 'running' | 'done' | 'failed'; done: number; of: number; seconds: number; result?: any; error?: string }
interface Flip { pod: string; node: string; from: VerdictName | 'absent'; to: VerdictName | 'absent' }
