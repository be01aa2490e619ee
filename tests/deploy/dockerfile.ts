import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

export interface Instruction {
  /** Upper case, such as `COPY`. */
  readonly name: string
  /** With continued lines joined. */
  readonly text: string
}

export interface Stage {
  readonly image: string
  /** The name after AS. */
  readonly name: string | undefined
  readonly instructions: readonly Instruction[]
}

/** Reads the stages of deploy/Dockerfile. */
export function readStages(): Stage[] {
  const text = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  const instructions = lines
    .filter((line) => line.trim() !== '')
    .map((line) => ({ name: line.split(/\s/, 1)[0]!.toUpperCase(), text: line.replace(/^\S+\s+/, '') }))
  const stages: { image: string; name: string | undefined; instructions: Instruction[] }[] = []
  for (const instruction of instructions) {
    if (instruction.name === 'FROM') {
      const [image = '', , name] = instruction.text.split(/\s+/)
      stages.push({ image, name, instructions: [] })
    } else stages.at(-1)!.instructions.push(instruction)
  }
  return stages
}

/** Returns the options, sources and target of a COPY. */
export function partsOfCopy(text: string): { from: string | undefined; sources: string[]; target: string } {
  const words = text.split(/\s+/)
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length)
  const paths = words.filter((word) => !word.startsWith('--'))
  return { from, sources: paths.slice(0, -1), target: paths.at(-1)! }
}

/** Returns the variables of the ENV instructions of a stage. */
export function environmentOf(stage: Stage): Record<string, string> {
  const texts = stage.instructions.filter(({ name }) => name === 'ENV').map(({ text }) => text)
  return Object.fromEntries(
    texts.flatMap((text) => [...text.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value])),
  )
}

/** Returns the words of an instruction in exec form. */
export function execForm(stage: Stage, name: string): string[] {
  const text = stage.instructions.find((instruction) => instruction.name === name)?.text ?? ''
  return JSON.parse(text.slice(text.indexOf('['))) as string[]
}
