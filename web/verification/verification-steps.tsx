import { Accordion, Code, Group, Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleDashed, IconCircleX } from '@tabler/icons-react'
import { CopyText } from '../ui/copy-text.tsx'
import { stepLabels } from './step-labels.ts'
import { type Step, type StepState, stepNames } from './steps.ts'

const looks: Record<StepState, { Icon: typeof IconCircleX; color: string; word: string }> = {
  passed: { Icon: IconCircleCheck, color: 'seal', word: 'passed' },
  failed: { Icon: IconCircleX, color: 'red', word: 'failed' },
  unknown: { Icon: IconCircleDashed, color: 'gray', word: 'not checked' },
}

/** Shows the steps of a verification with the compared values. Opens failed steps, or else unchecked ones. */
export function VerificationSteps({ steps }: { steps: readonly Step[] }) {
  const namesOf = (wanted: StepState) => steps.filter(({ state }) => state === wanted).map(({ name }) => name)
  const failed = namesOf('failed')
  const open = failed.length > 0 ? failed : namesOf('unknown')
  return (
    <Accordion multiple defaultValue={open} variant="default" chevronSize={16} order={3}>
      {steps.map((step, index) => (
        <StepItem key={step.name} step={step} number={index + 1} />
      ))}
    </Accordion>
  )
}

/** Shows a placeholder of the height of the steps. */
export function PendingSteps() {
  return (
    <Accordion variant="default" chevronSize={16} order={3} aria-busy="true">
      {stepNames.map((name, index) => (
        <Accordion.Item key={name} value={name}>
          <Accordion.Control px="xs" disabled icon={<IconCircleDashed size={20} aria-hidden />} styles={control}>
            <Text span size="sm">
              {index + 1}. {stepLabels[name].title}
            </Text>
          </Accordion.Control>
        </Accordion.Item>
      ))}
    </Accordion>
  )
}

const control = { label: { paddingBlock: 8 }, chevron: { marginInlineStart: 8 } }

function StepItem({ step: { name, state, found, values = [] }, number }: { step: Step; number: number }) {
  const { Icon, color, word } = looks[state]
  const { title, means, remedy } = stepLabels[name]
  return (
    <Accordion.Item value={name} data-step={name} data-state={state}>
      <Accordion.Control
        px="xs"
        icon={<Icon size={20} aria-hidden color={`var(--mantine-color-${color}-text)`} />}
        styles={control}
      >
        <Group justify="space-between" gap="xs" wrap="nowrap" component="span">
          <Text span size="sm">
            {number}. {title}
          </Text>
          <Text span size="xs" {...(state === 'failed' ? { fw: 700 } : { c: 'dimmed' })} style={{ flex: 'none' }}>
            {word}
          </Text>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="xs">
          <Text size="sm">{found}</Text>
          {state === 'failed' && (
            <>
              <Text size="sm">
                <b>What it means:</b> {means}
              </Text>
              <Text size="sm">
                <b>What to do:</b> {remedy}
              </Text>
            </>
          )}
          {values.map(({ label, value }) => (
            <div key={`${label} ${value}`}>
              <Text size="xs" c="dimmed">
                {label}
              </Text>
              {value.includes('\n') ? (
                <Code block tabIndex={0} role="group" aria-label={label} fz="xs">
                  {value}
                </Code>
              ) : (
                <CopyText value={value} label={`Copy ${label.toLowerCase()}`} />
              )}
            </div>
          ))}
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  )
}
