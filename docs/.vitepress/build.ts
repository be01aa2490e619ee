/**
 * Builds the documentation site into `docs/.vitepress/dist/`, if that is absent or was built from other sources:
 *
 *     npm run docs:build
 *
 * On failure it prints the reason, such as a dead link, exits with 1 and keeps the previous build.
 */
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { digestOfSources, ensureBuilt } from '../../web/build.ts'
import { root, sources } from './pages.ts'
import { writeReferencePages } from './reference/write-pages.ts'

const here = import.meta.dirname

async function runVitePress(outDir: string): Promise<void> {
  // Loaded here only: the check for changes does not need it.
  const { build } = await import('vitepress')
  await build(join(here, '..'), {
    outDir,
    // Builds may run side by side.
    onAfterConfigResolve: (config) => {
      config.tempDir = join(here, `dist.temp-${process.pid}`)
      config.logger = { ...config.logger, info: () => {} }
    },
  })
}

const begun = performance.now()
try {
  writeReferencePages()
  const dist = join(here, 'dist')
  if (await ensureBuilt(dist, runVitePress, digestOfSources(root, sources))) {
    console.log(`The documentation is built (${((performance.now() - begun) / 1000).toFixed(1)} s).`)
  }
} catch (error) {
  const message = stripVTControlCharacters((error as Error).message)
  console.error(`The documentation could not be built: ${message}\nMend that, then run: npm run docs:build`)
  process.exitCode = 1
}
