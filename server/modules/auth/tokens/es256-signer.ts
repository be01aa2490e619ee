import type { KeyObject } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { signEs256 } from './es256.ts'
import { SigningThread } from './signing-thread.ts'

/** Handed over at a time: fewer would not be worth the message, and with more one thread would wait for the other. */
const taskLength = 4

interface Asked {
  content: string
  key: KeyObject
  resolve(signature: string): void
  reject(error: unknown): void
}

/**
 * Signs by {@link signEs256}. What is asked for alone is signed here, at the end of this turn of the event loop. Where
 * one turn asks for many, another thread signs as many as it can and this one the rest, so that signatures take little
 * from the thread that answers requests, and none waits long.
 *
 * The answers of a turn leave together, which wakes fewer receivers. Measured in turns on two cores that others used as
 * well: a token took 65 µs of CPU at the end of the turn, 95 on the thread pool; three rounds of four gave 22,000 to
 * 25,000 tokens/s with the thread and 14,000 to 17,000 without, the fourth 11,000 and 17,000, when the cores were taken.
 */
export function createEs256Signer(
  options: { entry?: URL; isAlone?: boolean } = {},
): (content: string, key: KeyObject) => Promise<string> {
  const { entry = new URL('./signing-worker.ts', import.meta.url), isAlone = availableParallelism() === 1 } = options
  const thread = new SigningThread(entry)
  let asked: Asked[] = []

  function takeAsked(): Asked[] {
    const taken = asked
    asked = []
    return taken
  }

  function signThere(taken: readonly Asked[], key: KeyObject): void {
    thread.sign(
      { key, contents: taken.map(({ content }) => content) },
      {
        done: (signatures) => {
          for (const [at, { resolve }] of taken.entries()) resolve(signatures[at] as string)
        },
        lost: () => signHere(taken),
      },
    )
  }

  return (content, key) =>
    new Promise((resolve, reject) => {
      // A task has one key. When that changes, what is left for the old one is signed first.
      if (asked.length > 0 && asked[0]?.key !== key) signHere(takeAsked())
      asked.push({ content, key, resolve, reject })
      if (asked.length === 1) setImmediate(() => signHere(takeAsked()))
      if (!isAlone && asked.length >= taskLength && thread.isFree) signThere(takeAsked(), key)
    })
}

function signHere(asked: readonly Asked[]): void {
  for (const { content, key, resolve, reject } of asked) {
    try {
      resolve(signEs256(content, key))
    } catch (error) {
      reject(error)
    }
  }
}
