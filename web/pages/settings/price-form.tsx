import { Group, NumberInput, TextInput } from '@mantine/core'
import * as v from 'valibot'
import { priceUsdPerMtokMax } from '../../../contract/limits.ts'
import type { ApiResponse } from '../../api/api-client.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import { DateTimeInput } from '../../ui/date-time-input.tsx'
import { pricesPath, savePrices } from './save-prices.ts'

export type Price = ApiResponse<'getPrices'>['prices'][number]

const amount = v.pipe(
  v.unknown(),
  v.number('Say how much'),
  v.minValue(0, 'Not below 0'),
  v.maxValue(priceUsdPerMtokMax, `At most ${priceUsdPerMtokMax.toLocaleString()}`),
)
const schema = v.pipe(
  v.object({
    llm_model: v.pipe(v.string(), v.trim(), v.minLength(1, 'Say which, exactly as events name it')),
    llm_platform: v.string(),
    input_usd_per_mtok: amount,
    output_usd_per_mtok: amount,
    effective_from: v.pipe(v.unknown(), v.string('Say from when on')),
    effective_until: v.optional(v.string()),
  }),
  v.forward(
    v.check(
      ({ effective_from, effective_until }) => effective_until === undefined || effective_until > effective_from,
      'Has to be later than the beginning',
    ),
    ['effective_until'],
  ),
)

interface PriceFormProps {
  /** The initial values. */
  price: Partial<Price>
  /** The entry of the list to replace; absent, a new one is added. */
  replaces?: Price | undefined
  onClose(): void
}

/** Adds a price override, or changes one. */
export function PriceForm({ price, replaces, onClose }: PriceFormProps) {
  const form = useMutationForm({
    initialValues: {
      llm_model: price.llm_model ?? '',
      llm_platform: price.llm_platform ?? '',
      input_usd_per_mtok: (price.input_usd_per_mtok ?? '') as number | '',
      output_usd_per_mtok: (price.output_usd_per_mtok ?? '') as number | '',
      effective_from: price.effective_from,
      effective_until: price.effective_until,
    },
    schema,
    // The errors concern the last entry of the sent list; the others were valid before.
    fieldOf: (member) => /^prices\.\d+\.(\w+)$/.exec(member)?.[1],
    send: ({ llm_model, llm_platform, effective_from = '', effective_until, ...amounts }) => {
      const next: Price = {
        ...(llm_platform.trim() && { llm_platform: llm_platform.trim() }),
        llm_model: llm_model.trim(),
        input_usd_per_mtok: Number(amounts.input_usd_per_mtok),
        output_usd_per_mtok: Number(amounts.output_usd_per_mtok),
        effective_from,
        ...(effective_until && { effective_until }),
      }
      return savePrices({ add: next, remove: replaces })
    },
    refresh: [pricesPath],
    onDone: onClose,
  })
  return (
    <MutationForm form={form} submit="Save price" failed="The price was not saved" onCancel={onClose}>
      <TextInput
        label="Model"
        description="Exactly as events name it"
        required
        data-autofocus
        {...form.getInputProps('llm_model')}
      />
      <TextInput
        label="Platform"
        description="On every platform that has no price of its own where empty"
        placeholder="Every platform"
        {...form.getInputProps('llm_platform')}
      />
      <Group grow align="flex-start">
        <NumberInput
          label="Input, US dollars"
          description="Per million tokens"
          required
          min={0}
          decimalScale={12}
          {...form.getInputProps('input_usd_per_mtok')}
        />
        <NumberInput
          label="Output, US dollars"
          description="Per million tokens"
          required
          min={0}
          decimalScale={12}
          {...form.getInputProps('output_usd_per_mtok')}
        />
      </Group>
      <DateTimeInput
        label="From"
        description="For events whose time is this or later"
        required
        {...form.getInputProps('effective_from')}
      />
      <DateTimeInput
        label="Until"
        description="Or until the next price of this model and platform begins, if that is sooner"
        placeholder="No end"
        {...form.getInputProps('effective_until')}
      />
    </MutationForm>
  )
}
