import { type DemoEvent, timeOf } from './trace.ts'

/** A record to write, and the keys of the records it names in related_records. */
export interface DemoRecord {
  /** Stable over runs, kept in the record so that a later run finds it. */
  key: string
  relatedKeys: string[]
  body: Record<string, unknown>
}

export const demoTitlePrefix = 'Demo'

const outputsEvery = 400
const outputsPerArtifact = 3
const outputsPerDecision = 6

/**
 * What such a company would keep besides telemetry: the sources (artifacts) that some invocations drew on, what came
 * out of them (outputs), and what was decided on that ground (decisions). Sources come first, so that whoever writes
 * them in order always names records that exist.
 */
export function storyOf(events: readonly DemoEvent[]): DemoRecord[] {
  const chosen = events.filter((_, index) => index % outputsEvery === 0)
  const artifacts = chosen.filter((_, index) => index % outputsPerArtifact === 0).map(artifactOf)
  const outputs = chosen.map((event, index) =>
    outputOf(event, index, artifacts[Math.floor(index / outputsPerArtifact)]!.key, index % outputsPerArtifact === 1),
  )
  const decisions = outputs
    .filter((_, index) => index % outputsPerDecision === outputsPerDecision - 1)
    .map((_, index) => decisionOf(index, outputs.slice(index * outputsPerDecision, (index + 1) * outputsPerDecision)))
  return [...artifacts, ...outputs, ...decisions]
}

function artifactOf(event: DemoEvent, index: number): DemoRecord {
  const key = `${demoTitlePrefix} source ${index + 1} for ${event.skill_id}`
  return {
    key,
    relatedKeys: [],
    body: {
      record_type: 'artifact',
      title: key,
      media_type: 'text/markdown',
      uri: `https://wiki.demo.example/${event.skill_id}/${index + 1}`,
      content: { excerpt: `Background that ${event.skill_id} drew on.`, pages: (index % 9) + 1 },
    },
  }
}

function outputOf(event: DemoEvent, index: number, artifactKey: string, revises: boolean): DemoRecord {
  const key = outputKey(index)
  return {
    key,
    // Every third output revises the one before it.
    relatedKeys: revises ? [artifactKey, outputKey(index - 1)] : [artifactKey],
    body: {
      record_type: 'output',
      title: key,
      skill_id: event.skill_id,
      skill_version: event.skill_version,
      archetype_id: event.archetype_id,
      user_id: event.user_id,
      llm_platform: event.llm_platform,
      ...(event.llm_model === undefined ? {} : { llm_model: event.llm_model }),
      cost_usd_estimate: event.cost_usd_estimate,
      content_type: 'application/json',
      content: { summary: `Result of ${event.skill_id}`, words: Math.round(event.tokens_out * 0.75) },
    },
  }
}

const outputKey = (index: number) => `${demoTitlePrefix} output ${index + 1}`

function decisionOf(index: number, outputs: readonly DemoRecord[]): DemoRecord {
  const outcomes = ['approved', 'approved with changes', 'rejected', 'deferred']
  const key = `${demoTitlePrefix} decision ${index + 1}`
  return {
    key,
    relatedKeys: outputs.map((output) => output.key),
    body: {
      record_type: 'decision',
      decision_id: key,
      decision_subject: `Use of ${outputs.length} drafts of ${outputs[0]!.body.skill_id} and others`,
      decision_outcome: outcomes[index % outcomes.length]!,
      decision_rationale: 'Reviewed against the sources each draft names.',
      decision_actor_role: 'team lead',
    },
  }
}

/** The record that says that the demo data is here, and since when. */
export function markerOf(endMicros: number, events: number): DemoRecord {
  return {
    key: markerTitle,
    relatedKeys: [],
    body: {
      record_type: 'artifact',
      title: markerTitle,
      media_type: 'text/csv',
      uri: 'https://github.com/Azure/AzurePublicDataset',
      content: {
        ends_at: timeOf(endMicros),
        invocations: events,
        source: 'Azure LLM Inference Dataset 2023, conversation trace, CC-BY 4.0',
        derived: ['skill', 'archetype', 'user', 'platform', 'model', 'success', 'latency', 'cost'],
      },
    },
  }
}

export const markerTitle = `${demoTitlePrefix} data: the trace and when it ends`
