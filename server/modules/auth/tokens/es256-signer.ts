import type { KeyObject } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { signEs256 } from './es256.ts'
import { SigningThread } from './signing-thread.ts'

/**
 * Signatures per task for the thread: fewer would not be worth the message; with more, one thread would wait for the
 * other.
 */
const taskLength = 4

interface Asked {
  content: string
  key: KeyObject
  resolve(signature: string): void
  reject(error: unknown): void
}

/**
 * Creates a signer with {@link signEs256}. A single request is signed here, at the end of this turn of the event loop.
 * If one turn requests many, another thread signs as many as it can and this one the rest, so that signing takes little
 * from the thread that serves requests, and none waits long.
 *
 * The responses of a turn leave together, which wakes fewer receivers. Measured in turns on two cores that others used
 * as well: a token took 65 µs of CPU at the end of the turn, 95 on the thread pool; three rounds of four gave 22,000 to
 * 25,000 tokens/s with the thread and 14,000 to 17,000 without, the fourth 11,000 and 17,000, when the cores were
 * taken.
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
      // A task has one key. When the key changes, the requests for the old one are signed first.
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
