/** An entry of the directory that was left out. Without anything that is in it: only its place and a reason in words. */
export interface SkippedEntry {
  resource: 'Users' | 'Groups'
  /** Its place in the list of the directory, from 1. */
  place: number
  reason: string
}

/** How far a sync has come: what it goes on from after its process has died. */
export interface SyncPosition {
  phase: 'users' | 'groups' | 'absent' | 'archetypes'
  /** Of the next page, from 1. */
  startIndex: number
  /** Directories that change while they are read are read again. */
  pass: number
  /** Of the pass: the largest total that the directory said, new entries, and entries that could not be used. */
  totalMax: number
  fresh: number
  skipped: number
  /** The first of them, of users and groups. */
  skippedEntries: readonly SkippedEntry[]
  /** Of all passes, each entry once. */
  users: number
  groups: number
  /** Entries of users that could not be used, once their pass has ended. */
  usersSkipped: number
  /** Members of groups are asked for group by group: together they are too much for an answer. */
  membersApart: boolean
  /** Entries that one page brings at most; less where pages are too large. */
  count: number
  /** Of the pass: there is reason to doubt that every entry was met. */
  isDoubtful: boolean
  /** As much of the users, once they are read. */
  usersDoubtful: boolean
  /** User ids of last administrators whom the directory has as inactive, or no longer has. */
  keptActive: readonly string[]
  /** The person whose archetypes were settled last. */
  after: string
  /** Processes that took the sync up since it came further. */
  tries: number
  /** How often the directory was asked in vain for what is asked for next. */
  asks: number
}

export function firstPosition(phase: SyncPosition['phase'], count: number): SyncPosition {
  return {
    ...{ phase, startIndex: 1, pass: 1, totalMax: 0, fresh: 0, skipped: 0, users: 0, groups: 0, usersSkipped: 0 },
    ...{
      membersApart: false,
      count,
      isDoubtful: false,
      usersDoubtful: false,
      keptActive: [],
      skippedEntries: [],
      after: '',
      tries: 0,
      asks: 0,
    },
  }
}

export type SyncStatus = 'queued' | 'running' | 'awaiting_confirmation' | 'completed' | 'failed' | 'cancelled'

const keptNamedMax = 100
const skippedNamedMax = 20

/** Names last administrators whom the directory no longer has, or has as inactive. */
export function nameKept(position: SyncPosition, userIds: readonly string[] = []): void {
  position.keptActive = [...new Set([...position.keptActive, ...userIds])].slice(0, keptNamedMax)
}

/** Counts an entry that is left out, and names it while there are few. */
export function noteSkipped(position: SyncPosition, entry: SkippedEntry): void {
  position.skipped += 1
  if (position.skippedEntries.length < skippedNamedMax) position.skippedEntries = [...position.skippedEntries, entry]
}

/** Of a list that is read once more. */
export function forgetSkipped(position: SyncPosition, resource: SkippedEntry['resource']): void {
  position.skipped = 0
  position.skippedEntries = position.skippedEntries.filter((entry) => entry.resource !== resource)
}

/** The sync was cancelled, or another process has taken it over. */
export class SyncEndedError extends Error {
  override readonly name = 'SyncOver'
}

/** Why a sync cannot go on. The message is for people, without contents of the directory. */
export class SyncFailed extends Error {
  override readonly name = 'SyncFailed'
}
