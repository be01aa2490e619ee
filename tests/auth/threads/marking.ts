// Stands in for the thread that signs: its signatures say that they are its own, and of what.
import { parentPort } from 'node:worker_threads'

parentPort?.on('message', ({ contents }: { contents: string[] }) => {
  parentPort?.postMessage(contents.map((content) => `there: ${content}`))
})
parentPort?.postMessage('ready')
