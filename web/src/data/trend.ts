// The runs of a name in order: where on the axis each stands, and where the commit changes.

import type { SessionRun } from "../history/model";

export interface Commits {
  from: number;
  to: number;
  words: string;
}

/** Runs stand at 1, 2, …; neighbours of one commit share its span of the axis. */
export function commits(runs: readonly Pick<SessionRun, "git_commit">[]): Commits[] {
  const spans: Commits[] = [];
  let last: string | null | undefined;
  runs.forEach(({ git_commit }, at) => {
    const span = spans.at(-1);
    if (span && git_commit === last) span.to = at + 1.5;
    else spans.push({ from: at + 0.5, to: at + 1.5, words: short(git_commit) });
    last = git_commit;
  });
  return spans;
}

/** A commit by its first digits. */
export function short(commit: string | null): string {
  return commit?.slice(0, 8) ?? "–";
}
