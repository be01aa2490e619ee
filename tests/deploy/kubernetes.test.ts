import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as apps from 'kubernetes-models/apps/v1'
import * as autoscaling from 'kubernetes-models/autoscaling/v2'
import * as networking from 'kubernetes-models/networking.k8s.io/v1'
import * as policy from 'kubernetes-models/policy/v1'
import * as core from 'kubernetes-models/v1'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { anyone } from '../../contract/operations/operation.ts'
import { operations } from '../../contract/operations.ts'
import { environmentOf, execForm, readStages, root } from './dockerfile.ts'
import { exampleSecrets, knownVariables, loadWithSecrets } from './settings.ts'

/** The manifests, checked by the schemas of Kubernetes' own OpenAPI document, and against the image and the settings. */

type Labels = Record<string, string>
interface Probe {
  exec?: { command: string[] }
  httpGet?: { path: string; port: string }
  timeoutSeconds: number
}
interface Container {
  image: string
  args: string[]
  env: { name: string; value: string }[]
  envFrom: { configMapRef: { name: string } }[]
  ports?: { name: string; containerPort: number }[]
  livenessProbe: Probe
  readinessProbe: Probe
  startupProbe: Probe
  lifecycle?: { preStop: { sleep: { seconds: number } } }
  resources: { requests: Labels; limits: Labels }
  securityContext: Record<string, unknown>
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[]
}
interface Resource {
  apiVersion: string
  kind: string
  metadata: { name: string; labels?: Labels }
  // biome-ignore lint/suspicious/noExplicitAny: each kind has a shape of its own, which its schema checks
  spec: any
  data?: Record<string, string>
  stringData?: Record<string, string>
}

const folder = join(root, 'deploy/kubernetes')
const files = globSync('*.yaml', { cwd: folder }).sort()
const manifests = files.filter((file) => file !== 'kustomization.yaml')
const resourcesOf = (file: string) =>
  parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => {
    expect(document.errors, file).toEqual([])
    return document.toJS() as Resource
  })
const resources = manifests.flatMap(resourcesOf)
const ofKind = (kind: string) => resources.filter((one) => one.kind === kind)
const named = (kind: string, name: string) => ofKind(kind).find(({ metadata }) => metadata.name === name)!
const deployments = ofKind('Deployment')
const final = readStages().at(-1)!
const podOf = (deployment: Resource) => deployment.spec.template.spec
const containerOf = (deployment: Resource): Container => podOf(deployment).containers[0]
const environmentFor = (container: Container): Record<string, string> => ({
  ...environmentOf(final),
  ...named('ConfigMap', container.envFrom[0]!.configMapRef.name).data,
  ...Object.fromEntries(container.env.map(({ name, value }) => [name, value])),
})

interface Model {
  new (resource: never): { validate(): void }
}
const models = { ...core, ...apps, ...autoscaling, ...networking, ...policy } as unknown as Record<string, Model>

describe('the schemas', () => {
  test.each(resources.map((resource) => [`${resource.kind} ${resource.metadata.name}`, resource] as const))(
    'accept %s',
    (_, resource) => {
      const Kind = models[resource.kind]!
      expect((Kind as unknown as { apiVersion: string }).apiVersion).toBe(resource.apiVersion)
      new Kind(resource as never).validate()
    },
  )

  test('refuse a wrong type, a missing member and a wrong port', () => {
    const broken = (change: (spec: Resource['spec']) => void) => {
      const copy = structuredClone(deployments[0]!)
      change(copy.spec)
      return () => new models.Deployment!(copy as never).validate()
    }
    expect(broken(() => {})).not.toThrow()
    expect(broken((spec) => Object.assign(spec, { replicas: 'two' }))).toThrow()
    expect(broken((spec) => delete spec.selector)).toThrow()
    expect(
      broken((spec) => Object.assign(spec.template.spec.containers[0].ports[0], { containerPort: 'http' })),
    ).toThrow()
  })
})

test('kustomization.yaml lists every manifest but the example and the optional one', () => {
  const kustomization = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as {
    resources: string[]
    images: { name: string; newTag: string }[]
  }
  const optional = ['autoscaler.yaml', 'secret.example.yaml']
  expect([...kustomization.resources, ...optional].sort()).toEqual(manifests)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(kustomization.images).toMatchObject([{ name: containerOf(deployments[0]!).image, newTag: version }])
})

describe('settings', () => {
  test('are only those that exist', () => {
    const known = knownVariables()
    for (const deployment of deployments) {
      const unknown = Object.keys(environmentFor(containerOf(deployment))).filter((name) => !known.has(name))
      expect(unknown, deployment.metadata.name).toEqual([])
    }
  })

  test.each(['api', 'worker'])('of %s are accepted, with the keys of the Secret as files', (role) => {
    const deployment = named('Deployment', `hub-${role}`)
    const container = containerOf(deployment)
    const environment = environmentFor(container)
    const example = named('Secret', 'hub').stringData!
    const config = loadWithSecrets(environment, { ...example, ...exampleSecrets })
    expect(config).toMatchObject({ role, environment: 'production', host: '0.0.0.0', port: 8080, metricsPort: 9464 })
    const mount = container.volumeMounts.find(({ name }) => name === 'secrets')!
    const paths = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'))
    expect(paths.map(([, path]) => path).sort()).toEqual(
      Object.keys(example)
        .map((key) => `${mount.mountPath}/${key}`)
        .sort(),
    )
    const pause = container.lifecycle?.preStop.sleep.seconds ?? 0
    expect(podOf(deployment).terminationGracePeriodSeconds).toBeGreaterThan(pause + config.drainSeconds)
  })
})

test('the pools of all pods, and of those that an upgrade adds, fit into the default limit of PostgreSQL', () => {
  const connections = deployments.map((deployment) => {
    const { databasePoolSize } = loadWithSecrets(environmentFor(containerOf(deployment)), {
      ...named('Secret', 'hub').stringData!,
      ...exampleSecrets,
    })
    const pods = deployment.spec.replicas + deployment.spec.strategy.rollingUpdate.maxSurge
    return pods * (1.5 * databasePoolSize + 6)
  })
  // max_connections is 100, of which 3 are for superusers.
  expect(connections.reduce((a, b) => a + b)).toBeLessThanOrEqual(97)
})

test('the sample trusts the addresses of few proxies', () => {
  const { HUB_TRUSTED_PROXIES: ranges } = named('ConfigMap', 'hub').data!
  for (const range of ranges!.split(',')) expect(Number(range.split('/')[1] ?? 32)).toBeGreaterThanOrEqual(24)
})

describe('pods', () => {
  test('run at least twice, without a gap in an upgrade', () => {
    for (const { spec } of deployments) {
      expect(spec.replicas).toBeGreaterThanOrEqual(2)
      expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(0)
    }
  })

  test('satisfy the restricted profile, as the user of the image', () => {
    const user = Number(final.instructions.find(({ name }) => name === 'USER')!.text.split(':')[0])
    expect(named('Namespace', 'org-memory-hub').metadata.labels).toMatchObject({
      'pod-security.kubernetes.io/enforce': 'restricted',
    })
    for (const deployment of deployments) {
      const pod = podOf(deployment)
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: user,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(pod.automountServiceAccountToken).toBe(false)
      expect(containerOf(deployment).securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      const kinds = pod.volumes.flatMap((volume: object) => Object.keys(volume).filter((key) => key !== 'name'))
      expect(kinds).toEqual(['secret', 'emptyDir'])
      const { requests, limits } = containerOf(deployment).resources
      expect([Object.keys(requests), Object.keys(limits)]).toEqual([['cpu', 'memory'], ['memory']])
    }
  })

  test('have probes whose paths are operations without a credential, and whose commands are in the image', () => {
    const open = Object.values(operations as Record<string, { method: string; path: string; access: unknown }>).filter(
      ({ method, access }) => method === 'GET' && access === anyone,
    )
    for (const deployment of deployments) {
      const container = containerOf(deployment)
      for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
        if (probe.httpGet) {
          expect(open.map(({ path }) => path)).toContain(probe.httpGet.path)
          expect(container.ports?.map(({ name }) => name)).toContain(probe.httpGet.port)
        } else {
          expect(probe.exec!.command.slice(0, 2)).toEqual(execForm(final, 'HEALTHCHECK').slice(0, 2))
          // The script gives up after 4 s.
          expect(probe.timeoutSeconds).toBeGreaterThanOrEqual(5)
        }
      }
    }
    const port = containerOf(named('Deployment', 'hub-api')).ports![0]!.containerPort
    expect(String(port)).toBe(environmentOf(final).HUB_PORT)
  })
})

describe('selectors', () => {
  let labels: Labels[]
  beforeAll(() => {
    labels = deployments.map(({ spec }) => spec.template.metadata.labels)
  })
  const matched = (selector: Labels) =>
    labels.filter((own) => Object.entries(selector).every(([key, value]) => own[key] === value))

  test('of a deployment match its own pods only', () => {
    for (const { spec } of deployments)
      expect(matched(spec.selector.matchLabels)).toEqual([spec.template.metadata.labels])
  })

  test('of the service match the api pods, by a port that they name', () => {
    const { spec } = named('Service', 'hub')
    const api = named('Deployment', 'hub-api')
    expect(matched(spec.selector)).toEqual([api.spec.template.metadata.labels])
    expect(spec.ports[0].targetPort).toBe(containerOf(api).ports![0]!.name)
  })

  test('of each disruption budget match one deployment', () => {
    const budgets = ofKind('PodDisruptionBudget')
    expect(budgets.flatMap(({ spec }) => matched(spec.selector.matchLabels))).toEqual(labels)
  })

  test('of the network policies cover every pod; requests reach the api pods only', () => {
    expect(matched(named('NetworkPolicy', 'hub').spec.podSelector.matchLabels)).toEqual(labels)
    expect(named('NetworkPolicy', 'hub').spec.ingress).toBe(undefined)
    const { spec } = named('NetworkPolicy', 'hub-ingress')
    expect(matched(spec.podSelector.matchLabels)).toEqual([
      named('Deployment', 'hub-api').spec.template.metadata.labels,
    ])
    expect(spec.ingress[0].ports).toEqual([{ protocol: 'TCP', port: 'http' }])
  })

  test('the autoscaler names a deployment', () => {
    const { spec } = named('HorizontalPodAutoscaler', 'hub-api')
    expect(named('Deployment', spec.scaleTargetRef.name).spec.replicas).toBeLessThanOrEqual(spec.minReplicas)
  })
})

test('the ports that pods may reach are those of the stores in the example', () => {
  const example = named('Secret', 'hub').stringData!
  const defaults: Record<string, number> = { 'https:': 443, 's3:': 443 }
  const wanted = Object.values(example)
    .filter((value) => URL.canParse(value))
    .map((value) => new URL(value))
    .map(({ port, protocol }) => (port === '' ? defaults[protocol] : Number(port)))
  const allowed = named('NetworkPolicy', 'hub').spec.egress.flatMap(({ ports }: { ports: { port: number }[] }) =>
    ports.map(({ port }) => port),
  )
  expect(wanted.length).toBe(4)
  // PgBouncer, Vault and OTLP by HTTP, which the settings of a Hub may name.
  for (const port of [...wanted, 6432, 8200, 4318]) expect(allowed).toContain(port)
  expect(manifests.map((file) => basename(file))).toContain('network-policies.yaml')
})
