// Stands in for the thread that signs: ends with its second task.
import { parentPort } from 'node:worker_threads'

let tasks = 0
parentPort?.on('message', ({ contents }: { contents: string[] }) => {
  if (++tasks === 2) throw new Error('ended in the middle')
  parentPort?.postMessage(contents.map((content) => `there: ${content}`))
})
parentPort?.postMessage('ready')
