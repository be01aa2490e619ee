// The entry of the signing thread.
import { parentPort } from 'node:worker_threads'
import { signEs256 } from './es256.ts'
import type { SigningTask } from './signing-thread.ts'

parentPort?.on('message', ({ key, contents }: SigningTask) => {
  parentPort?.postMessage(contents.map((content) => signEs256(content, key)))
})
parentPort?.postMessage('ready')
