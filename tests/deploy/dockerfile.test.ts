import { existsSync, globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { parseSync } from 'oxc-parser'
import { expect, test } from 'vitest'
import { environmentOf, execForm, partsOfCopy, readStages, root } from './dockerfile.ts'
import { knownVariables } from './settings.ts'

const [build, final] = readStages() as [ReturnType<typeof readStages>[0], ReturnType<typeof readStages>[0]]
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
}
const webPackages = readFileSync(join(root, 'deploy/web-packages.txt'), 'utf8').trim().split('\n')
const copies = build.instructions.filter(({ name }) => name === 'COPY').map(({ text }) => partsOfCopy(text))
const sources = copies.flatMap((copy) => copy.sources)
/** The folders whose files run in the image. */
const folders = sources.filter((source) => source !== 'web' && !source.includes('.') && source !== 'LICENSE')
const files = globSync(
  folders.map((folder) => `${folder}/**/*.{ts,js}`),
  { cwd: root },
).filter((file) => !file.endsWith('.d.ts'))

/** Returns the specifiers of static and literal dynamic imports that are not types only. */
function importsOf(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8')
  const { module } = parseSync(file, source)
  const exported = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ isType, moduleRequest }) => (moduleRequest && !isType ? [moduleRequest.value] : [])),
  )
  const imported = module.staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest.value)
  const dynamic = module.dynamicImports
    .map(({ moduleRequest: { start, end } }) => source.slice(start, end))
    .filter((text) => /^'[^']+'$/.test(text))
    .map((text) => text.slice(1, -1))
  return [...imported, ...exported, ...dynamic]
}

const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
const isPackage = (specifier: string) =>
  !/^[./#]/.test(specifier) && !specifier.startsWith('node:') && !builtinModules.includes(specifier)

test('each source of a COPY exists, and is in the context', () => {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
  expect(sources.length).toBeGreaterThan(8)
  for (const source of sources) {
    expect(existsSync(join(root, source)), source).toBe(true)
    expect(
      ignored.some((line) => line === `!${source}` || source.startsWith(`${line.slice(1)}/`)),
      source,
    ).toBe(true)
  }
  expect(ignored).toContain('*')
})

test('no import leaves the folders that the image contains', () => {
  expect(files.length).toBeGreaterThan(800)
  const outside = files.flatMap((file) =>
    importsOf(file)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => resolve(root, dirname(file), specifier).slice(root.length + 1))
      .filter((path) => !folders.some((folder) => path.startsWith(`${folder}/`)) || !existsSync(join(root, path)))
      .map((path) => `${file}: ${path}`),
  )
  expect(outside).toEqual([])
})

test('what the image imports is a production dependency that stays in it', () => {
  const used = new Set(files.flatMap(importsOf).filter(isPackage).map(packageOf))
  expect(used.size).toBeGreaterThan(30)
  const kept = Object.keys(manifest.dependencies).filter((name) => !webPackages.includes(name))
  expect([...used].filter((name) => !kept.includes(name))).toEqual([])
})

test('the packages that are removed are those which only the web UI and its build use', () => {
  const exclude = ['web/dist/**', 'web/dist.*/**']
  const web = globSync('web/**/*.{ts,tsx}', { cwd: root, exclude })
  const imported = new Set(web.flatMap(importsOf).filter(isPackage).map(packageOf))
  // Peers of the others, which no file imports.
  for (const peer of ['postcss', 'dayjs', 'recharts']) imported.add(peer)
  expect(webPackages.filter((name) => !(name in manifest.dependencies))).toEqual([])
  expect(webPackages.filter((name) => !imported.has(name))).toEqual([])
  const inService = new Set(files.flatMap(importsOf).filter(isPackage).map(packageOf))
  const left = [...imported].filter(
    (name) => name in manifest.dependencies && !webPackages.includes(name) && !inService.has(name),
  )
  expect(left).toEqual([])
})

test('the final image has a numeric user, a signal, a volume, and one port', () => {
  const texts = (name: string) => final.instructions.filter((one) => one.name === name).map(({ text }) => text)
  expect(texts('USER')).toEqual([expect.stringMatching(/^[1-9]\d+:[1-9]\d+$/)])
  expect(texts('STOPSIGNAL')).toEqual(['SIGTERM'])
  const environment = environmentOf(final)
  expect(texts('VOLUME')).toEqual([environment.HUB_DATA_DIR])
  expect(texts('EXPOSE')).toEqual([environment.HUB_PORT])
  expect(texts('COPY').map(partsOfCopy)).toEqual([{ from: build.name, sources: ['/app'], target: '/app' }])
  const known = knownVariables()
  expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([])
})

test('the Node of the build and the Node that runs are of the version that the package pins', () => {
  expect(build.image).toBe(`node:${manifest.dependencies.node}-bookworm`)
  const [node, main] = execForm(final, 'ENTRYPOINT')
  expect(node).toBe('/app/node_modules/node/bin/node')
  expect(main).toBe('/app/cli/main.ts')
  const [healthNode, script] = execForm(final, 'HEALTHCHECK')
  expect(healthNode).toBe(node)
  for (const path of [main, script]) expect(existsSync(join(root, path!.replace('/app/', ''))), path).toBe(true)
  expect(execForm(final, 'CMD')).toEqual(['serve'])
})
