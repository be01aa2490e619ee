import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { digestOfSources, ensureBuilt } from '../../web/build.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const script = 'export const text = "a script that is worth compressing" \n'.repeat(100)

let folder: string
let dist: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hub-web-build-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))
beforeEach(async () => {
  dist = join(await mkdtemp(join(folder, 'case-')), 'dist')
})

/** In the place of Vite, which takes seconds. */
async function bundle(outDir: string): Promise<void> {
  await mkdir(join(outDir, 'assets'))
  await writeFile(join(outDir, 'index.html'), '<!doctype html>')
  await writeFile(join(outDir, 'assets', 'main-1.js'), script)
  await writeFile(join(outDir, 'assets', 'small-1.js'), 'let x')
  await writeFile(join(outDir, 'assets', 'font-1.woff2'), Buffer.alloc(5000))
}

const neverCalled = async () => {
  throw new Error('nothing was to be built')
}
const beside = () => readdir(join(dist, '..'))

describe('a build', () => {
  test('has what is worth it compressed, and is readable for whoever serves it', async () => {
    expect(await ensureBuilt(dist, bundle)).toBe(true)
    const assets = await readdir(join(dist, 'assets'))
    expect(assets.sort()).toEqual(['font-1.woff2', 'main-1.js', 'main-1.js.br', 'main-1.js.gz', 'small-1.js'])
    const read = (name: string) => readFile(join(dist, 'assets', name))
    expect(brotliDecompressSync(await read('main-1.js.br')).toString()).toBe(script)
    expect(gunzipSync(await read('main-1.js.gz')).toString()).toBe(script)
    expect((await stat(dist)).mode & 0o777).toBe(0o755)
    expect(await beside()).toEqual(['dist'])
  })

  test('is not made again of the same sources', async () => {
    await ensureBuilt(dist, bundle)
    expect(await ensureBuilt(dist, neverCalled)).toBe(false)
  })

  test('replaces one of other sources as a whole', async () => {
    await ensureBuilt(dist, bundle)
    await writeFile(join(dist, 'sources.sha256'), 'others')
    await writeFile(join(dist, 'assets', 'old.js'), 'let old')
    expect(await ensureBuilt(dist, bundle)).toBe(true)
    expect(await readdir(join(dist, 'assets'))).not.toContain('old.js')
    expect(await beside()).toEqual(['dist'])
  })

  test('that fails leaves the one before, and nothing of itself', async () => {
    await ensureBuilt(dist, bundle)
    await writeFile(join(dist, 'sources.sha256'), 'others')
    const failing = async (outDir: string) => {
      await writeFile(join(outDir, 'index.html'), 'half')
      throw new Error('a page does not parse')
    }
    await expect(ensureBuilt(dist, failing)).rejects.toThrow('a page does not parse')
    expect(await readFile(join(dist, 'index.html'), 'utf8')).toBe('<!doctype html>')
    expect(await beside()).toEqual(['dist'])
  })

  test.each(['where there was none', 'where there was another'])('side by side with others: %s', async (before) => {
    if (before.endsWith('another')) {
      await ensureBuilt(dist, bundle)
      await writeFile(join(dist, 'sources.sha256'), 'others')
    }
    // All have begun before any is done.
    const { promise: all, resolve: begun } = Promise.withResolvers<void>()
    let count = 0
    const together = async (outDir: string) => {
      count += 1
      if (count === 4) begun()
      await all
      await bundle(outDir)
    }
    const built = await Promise.all(Array.from({ length: 4 }, () => ensureBuilt(dist, together)))
    expect(built).toEqual([true, true, true, true])
    expect(await readFile(join(dist, 'sources.sha256'), 'utf8')).toBe(digestOfSources())
    expect(await readdir(join(dist, 'assets'))).toHaveLength(5)
    expect(await beside()).toEqual(['dist'])
  })

  test('takes away what a killed one has left, but not what goes on', async () => {
    const [left, going] = [`${dist}.building-left`, `${dist}.building-going`]
    for (const each of [left, going]) await mkdir(each)
    const anHourAgo = Date.now() / 1000 - 3600
    await utimes(left, anHourAgo, anHourAgo)
    await ensureBuilt(dist, bundle)
    expect(await beside()).toEqual(['dist', 'dist.building-going'])
  })
})

describe('the digest', () => {
  test('changes with every source, and with nothing else', async () => {
    const checkout = join(folder, 'checkout')
    const sources = [
      'web/main.tsx',
      'web/pages/a/a-page.tsx',
      'contract/roles.ts',
      'provenance/hash.ts',
      'sdk/client.ts',
    ]
    for (const source of [...sources, 'package-lock.json']) await put(source, '1')
    async function put(path: string, text: string): Promise<void> {
      await mkdir(join(checkout, path, '..'), { recursive: true })
      await writeFile(join(checkout, path), text)
    }
    const seen = [digestOfSources(checkout)]
    for (const source of [...sources, 'package-lock.json', 'web/new.ts']) {
      await put(source, '2')
      seen.push(digestOfSources(checkout))
    }
    expect(new Set(seen).size).toBe(seen.length)
    await put('web/dist/index.html', 'x')
    await put('web/dist.building-1/index.html', 'x')
    await put('server/main.ts', 'x')
    await put('sdk/typescript/dist/index.js', 'x')
    await put('sdk/python/org_memory_hub/__pycache__/verify.pyc', 'x')
    expect(digestOfSources(checkout)).toBe(seen.at(-1))
  })
})

test('a failure says what it is and what to do', async () => {
  const checkout = await mkdtemp(join(folder, 'broken-'))
  await cp(join(root, 'web/build.ts'), join(checkout, 'web/build.ts'))
  const failed = run(process.execPath, [join(checkout, 'web/build.ts')])
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^The web UI could not be built: .*vite.*\nMend that, then run: npm run build\n$/s),
  })
  expect(await readdir(join(checkout, 'web'))).toEqual(['build.ts'])
})
