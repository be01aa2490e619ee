import { CommanderError } from 'commander'
import { describeError, exitCodeOf, exitUsage } from './output.ts'
import { createProgram } from './program.ts'

// A reader that closes stdout early, such as head, ends the command without an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

try {
  const program = await createProgram(process.argv[2])
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed its message or the requested help.
    process.exitCode = error.exitCode === 0 ? 0 : exitUsage
  } else {
    process.stderr.write(`hub: ${describeError(error)}\n`)
    if (process.env.HUB_LOG_LEVEL === 'debug' || process.env.HUB_LOG_LEVEL === 'trace') console.error(error)
    process.exitCode = exitCodeOf(error)
  }
}
