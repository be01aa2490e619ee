import { Button, Group, List, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconCheck, IconMinus, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Notice } from '../ui/notice.tsx'
import { ProblemNotice } from './problem-notice.tsx'
import { type Action, useAction } from './use-action.ts'

/** The Hub's response after a connection test. */
export interface ConnectionTestResult {
  ok: boolean
  steps: { name: string; ok: boolean; detail: string }[]
}

/** The title of each step, and advice if it fails, by the Hub's step names. */
export type StepLabels = Record<string, { title: string; advice?: ReactNode }>

type StepState = 'passed' | 'failed' | 'skipped'

const states = {
  passed: { word: 'Passed', color: 'seal', Icon: IconCheck },
  failed: { word: 'Failed', color: 'red', Icon: IconX },
  skipped: { word: 'Not tried', color: 'gray', Icon: IconMinus },
} as const

/** Returns the state of a step. The first failed step is the reason; the Hub runs none after it. */
function stateOf({ ok, detail }: ConnectionTestResult['steps'][number]): StepState {
  if (ok) return 'passed'
  return detail.startsWith('Not tried') ? 'skipped' : 'failed'
}

/** Shows the steps of a test with their results; above them the verdict, with advice. */
export function TestSteps({ trial, words }: { trial: ConnectionTestResult; words: StepLabels }) {
  const failed = trial.steps.find((step) => stateOf(step) === 'failed')
  return (
    <Stack gap="sm">
      {trial.ok ? (
        <Notice kind="good" title="Everything works" />
      ) : (
        <Notice kind="danger" title={`It fails at: ${words[failed?.name ?? '']?.title ?? failed?.name ?? 'a step'}`}>
          <Text size="sm" component="div">
            {words[failed?.name ?? '']?.advice ?? 'Mend what the step says, then run the test again.'}
          </Text>
        </Notice>
      )}
      <List listStyleType="none" spacing="xs" aria-label="Steps of the test">
        {trial.steps.map((step) => {
          const state = stateOf(step)
          const { word, color, Icon } = states[state]
          return (
            <List.Item
              key={step.name}
              icon={
                <ThemeIcon size={20} radius="xl" color={color} variant={state === 'skipped' ? 'light' : 'filled'}>
                  <Icon size={13} aria-hidden />
                </ThemeIcon>
              }
              styles={{ itemWrapper: { alignItems: 'flex-start' }, itemLabel: { minWidth: 0 } }}
            >
              <Text size="sm" fw={600}>
                {words[step.name]?.title ?? step.name}
                <Text span size="sm" fw={400} c="dimmed">{` · ${word}`}</Text>
              </Text>
              {state !== 'skipped' && (
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {step.detail}
                </Text>
              )}
            </List.Item>
          )
        })}
      </List>
    </Stack>
  )
}

interface ConnectionTestProps {
  about: string
  words: StepLabels
  send: Action<ConnectionTestResult>['send']
}

/** Tests a stored connection and explains failures. Changes nothing. */
export function ConnectionTest({ about, words, send }: ConnectionTestProps) {
  const test = useAction({ send })
  return (
    <Paper withBorder p="md" component="section" aria-label="Connection test">
      <Group justify="space-between" align="flex-start" wrap="nowrap" mb={test.data || test.error ? 'sm' : 0}>
        <div>
          <Title order={2}>Connection test</Title>
          <Text size="sm" c="dimmed">
            {about}
          </Text>
        </div>
        <Button variant="default" flex="none" loading={test.isPending} onClick={() => test.mutate()}>
          Run test
        </Button>
      </Group>
      <div aria-live="polite">
        {test.error ? <ProblemNotice error={test.error} title="The test could not be run" /> : null}
        {test.data && !test.isPending && <TestSteps trial={test.data} words={words} />}
      </div>
    </Paper>
  )
}
