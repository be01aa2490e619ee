import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { cleanUp } from './cleanup.ts'
import { type MachineSpeed, measureMachine } from './machine-speed.ts'
import { logProgress } from './progress.ts'
import { rounded, type Spread, spreadOf } from './statistics.ts'

export type Row = Record<string, string | number | boolean>

/** One line of the table of targets. */
export interface Outcome {
  figure: string
  reference: string
  /** `×` for a ratio to the reference. */
  unit: '×' | 'records/s' | 'events/s' | 'ms' | 's' | 'B' | 'MB' | '%' | '% more'
  value: number
  spread?: Pick<Spread, 'min' | 'max'>
  /** The value must be at least or at most this. */
  bound: 'min' | 'max'
  target: number
  stretch?: number
}

/** Returns the outcome of several rounds: their median and spread. */
export function outcomeOf(values: readonly number[], facts: Omit<Outcome, 'value' | 'spread'>): Outcome {
  const { median: value, min, max } = spreadOf(values)
  return { ...facts, value, spread: { min, max } }
}

/** Result of looking up the events that were answered with 201. */
export interface StoreCheck {
  acknowledged: number
  missing: number
  stored_events: number
  summary_invocations: number
}

export interface Measured {
  outcomes: Outcome[]
  /** Details by caption. */
  tables?: Record<string, Row[]>
  checks?: StoreCheck[]
  /** Paragraphs for the tables. */
  remarks?: string[]
  /** Settings of the database, and other facts that a reader needs. */
  notes?: Record<string, unknown>
}

/** A result as stored in `results/`. */
export interface FigureResult extends Measured {
  figure: string
  title: string
  measured_at: string
  commit: string
  /** The speed is absent from results of before it was measured. */
  machine: { cpu: string | undefined; cores: number; memory_gib: number; speed?: MachineSpeed }
  node: string
  quick: boolean
  seconds: number
  rounds: number
  took_s: number
}

/** Options from the command line. */
export interface Run {
  /** Seconds of each measured phase. */
  seconds: number
  rounds: number
  warmUpSeconds: number
  /** A smoke run: proves that the command works, and measures nothing. */
  quick: boolean
  flag(name: string): string | undefined
}

export interface Figure {
  name: string
  title: string
  seconds: number
  rounds: number
  /** Names of further options with a value. */
  flags?: readonly string[]
  measure(run: Run): Promise<Measured>
}

/** Seconds of the echo that is part of the machine's speed. */
const speedSeconds = 3
const resultsDirectory = join(import.meta.dirname, '../results')

/** Runs one benchmark as a command: progress on stderr, tables and then one line of JSON on stdout. */
export async function runFigure(figure: Figure): Promise<void> {
  const began = performance.now()
  try {
    const run = readFlags(figure)
    logProgress(`${figure.name}: ${figure.title}`)
    const speed = await measureMachine(run.quick ? 1 : speedSeconds)
    const measured = await figure.measure(run)
    const result: FigureResult = {
      figure: figure.name,
      title: figure.title,
      measured_at: new Date().toISOString(),
      commit: commit(),
      machine: {
        cpu: cpus()[0]?.model,
        cores: availableParallelism(),
        memory_gib: Math.round(totalmem() / 2 ** 30),
        speed,
      },
      node: process.version,
      quick: run.quick,
      seconds: run.seconds,
      rounds: run.rounds,
      took_s: Math.round((performance.now() - began) / 1000),
      ...measured,
    }
    // A smoke run must not overwrite a result.
    const out = run.flag('out') ?? join(resultsDirectory, `${figure.name}${run.quick ? '.tmp' : ''}.json`)
    await mkdir(dirname(out), { recursive: true })
    await writeFile(out, `${JSON.stringify(result, null, 2)}\n`)
    show(result)
    if (!isSound(result)) process.exitCode = 1
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  } finally {
    await cleanUp()
  }
  process.exit()
}

function readFlags(figure: Figure): Run {
  const names = ['seconds', 'rounds', 'warm-up', 'out', ...(figure.flags ?? [])]
  const { values } = parseArgs({
    options: {
      ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
      quick: { type: 'boolean', default: false },
    },
  })
  const texts: Record<string, unknown> = values
  const number = (name: string, otherwise: number) => {
    const value = Number(texts[name] ?? otherwise)
    if (Number.isFinite(value) && value > 0) return value
    throw new Error(`--${name} must be a positive number, not ${texts[name]}`)
  }
  const quick = values.quick === true
  return {
    seconds: number('seconds', quick ? 2 : figure.seconds),
    rounds: Math.ceil(number('rounds', quick ? 1 : figure.rounds)),
    warmUpSeconds: number('warm-up', quick ? 1 : 5),
    quick,
    flag: (name) => texts[name] as string | undefined,
  }
}

function commit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' }).trim()
    const changed = git(
      'status',
      '--porcelain',
      '--untracked-files=no',
      '--',
      '../server',
      '../provenance',
      '../contract',
    )
    return `${git('rev-parse', '--short', 'HEAD')}${changed === '' ? '' : ' with changes'}`
  } catch {
    return 'unknown'
  }
}

function show(result: FigureResult): void {
  for (const [caption, rows] of Object.entries(result.tables ?? {})) {
    console.log(`\n${caption}`)
    console.table(rows)
  }
  console.log(`\n${result.title}`)
  console.table(result.outcomes.map(outcomeRow))
  console.log(JSON.stringify(result))
}

export function outcomeRow(outcome: Outcome): Row {
  const { figure, reference, value, unit, spread, bound, target, stretch } = outcome
  return {
    figure,
    reference,
    target: `${bound === 'min' ? '≥' : '≤'} ${target} ${unit}${stretch === undefined ? '' : `, stretch ${stretch}`}`,
    measured: `${rounded(value)} ${unit}${spread ? ` (${spread.min} to ${spread.max})` : ''}`,
    met: isMet(outcome) ? 'yes' : 'no',
  }
}

export function isMet({ value, bound, target }: Outcome): boolean {
  return bound === 'min' ? value >= target : value <= target
}

/** Returns false for a lost or miscounted event, which makes the run worthless. A missed target is a finding. */
function isSound(result: FigureResult): boolean {
  for (const check of result.checks ?? []) {
    if (check.missing > 0) logProgress(`${check.missing} acknowledged records are not stored`)
    if (check.summary_invocations !== check.stored_events) {
      logProgress(`the summary counts ${check.summary_invocations} events, ${check.stored_events} are stored`)
    }
  }
  return (result.checks ?? []).every(
    (check) => check.missing === 0 && check.summary_invocations === check.stored_events,
  )
}
