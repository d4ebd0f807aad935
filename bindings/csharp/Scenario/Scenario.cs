// The scenario of tests/bindings/scenario.c in C#.
using System;
using System.Linq;
using Lpt;

static class Scenario
{
    const int Rows = 4, Columns = 32, Outputs = 8;

    static void Print(string name, byte[] bytes)
    {
        var digest = 0xcbf29ce484222325UL;
        foreach (var one in bytes) digest = unchecked((digest ^ one) * 0x100000001b3UL);
        Console.WriteLine("{0} {1:x16}", name, digest);
    }

    static byte[] BytesOf(float[] numbers)
    {
        var bytes = new byte[numbers.Length * sizeof(float)];
        Buffer.BlockCopy(numbers, 0, bytes, 0, bytes.Length);
        return bytes;
    }

    static void Print(string name, float[] numbers) { Print(name, BytesOf(numbers)); }

    static void Print(string name, Context context, Tensor tensor, TensorPart which)
    {
        using (var part = tensor.Part(context, which)) Print(name, part.ToBytes(context));
    }

    static float[] Filled(int count, float step)
    {
        return Enumerable.Range(0, count).Select(i => (i * 7 % 13 - 6) * step).ToArray();
    }

    static void QuantizeBoth(Context context)
    {
        float[] numbers = Filled(Rows * Columns, 0.25f), restored = new float[Rows * Columns];
        using (var source = Tensor.FromArray(context, numbers, Rows, Columns))
        using (var target = Tensor.FromArray(context, restored, Rows, Columns))
        using (var nvfp4 = new Tensor(context, Format.Nvfp4, Rows, Columns))
        using (var fp8 = new Tensor(context, Formats.FromName("e4m3fn_row"), Rows, Columns))
        {
            context.Quantize(source, nvfp4);
            context.Dequantize(nvfp4, target);
            Print("nvfp4.payload", context, nvfp4, TensorPart.Payload);
            Print("nvfp4.block_scales", context, nvfp4, TensorPart.BlockScales);
            Print("nvfp4.tensor_scale", context, nvfp4, TensorPart.TensorScale);
            Print("nvfp4.numbers", restored);
            context.Quantize(source, fp8);
            context.Dequantize(fp8, target);
            Print("e4m3fn.payload", context, fp8, TensorPart.Payload);
            Print("e4m3fn.numbers", restored);
            var stochastic = QuantizeOptions.Default();
            stochastic.Rounding = Rounding.Stochastic;
            stochastic.Random.Seed = 7;
            context.Quantize(source, fp8, stochastic);
            Print("e4m3fn.stochastic", context, fp8, TensorPart.Payload);
        }
    }

    static void Multiply(Context context)
    {
        var numbers = new float[Rows * Outputs];
        using (var a = Tensor.FromArray(context, Filled(Rows * Columns, 1), Rows, Columns))
        using (var b = Tensor.FromArray(context, Filled(Outputs * Columns, 1), Outputs, Columns))
        using (var c = Tensor.FromArray(context, numbers, Rows, Outputs))
        using (var fp8 = new Tensor(context, Format.E4m3fn, Outputs, Columns))
        {
            var options = GemmOptions.Default();
            options.IsBTransposed = 1;
            context.Gemm(a, b, c, options);
            Print("gemm.f32", numbers);
            context.Quantize(b, fp8);
            byte[] state;
            using (var packed = context.WeightsPack(fp8)) state = context.WeightsStateSave(packed);
            Print("weights.state", state);
            options.Alpha = 0.5;
            using (var loaded = context.WeightsStateLoad(state)) context.Gemm(a, loaded, c, options);
            Print("gemm.loaded", numbers);
            try
            {
                context.Gemm(a, b, c);
            }
            catch (LptException error)
            {
                Console.WriteLine("gemm.error {0}: {1}", error.StatusText, error.Message);
            }
        }
    }

    static void TrainLayer(Context context)
    {
        float[] y = new float[Rows * Outputs], dw = new float[Outputs * Columns];
        using (var recipe = new Recipe(context, "mxfp8"))
        using (var linear = new Linear(context, recipe, Columns, Outputs))
        using (var x = Tensor.FromArray(context, Filled(Rows * Columns, 1), Rows, Columns))
        using (var w = Tensor.FromArray(context, Filled(Outputs * Columns, 1), Outputs, Columns))
        using (var output = Tensor.FromArray(context, y, Rows, Outputs))
        using (var gradient = Tensor.FromArray(context, dw, Outputs, Columns))
        {
            linear.Prepare(context, w);
            using (var saved = linear.NewSaved(context, Rows))
            {
                linear.Forward(context, x, saved, output);
                Print("linear.output", y);
                Filled(Rows * Outputs, 1).CopyTo(y, 0);
                linear.Backward(context, saved, output, null, gradient);
            }
        }
        Print("linear.weight_gradient", dw);
    }

    static Optimizer AdamW(Context context)
    {
        var optimizer = new Optimizer(context);
        var parameter = OptimizerParameter.Default();
        parameter.Elements = Rows * Columns;
        parameter.FirstMoment = parameter.SecondMoment = Format.E4m3fn_1x128;
        parameter.WeightDecay = 0.125;
        optimizer.Add(context, parameter);
        return optimizer;
    }

    static void Optimize(Context context)
    {
        var numbers = Filled(Rows * Columns, 0.25f);
        var options = OptimizerStepOptions.Default();
        options.LearningRate = 0.5;
        var indices = new long[] { 0 };
        using (var parameter = Tensor.FromArray(context, numbers, Rows, Columns))
        using (var gradient = Tensor.FromArray(context, Filled(Rows * Columns, 1), Rows, Columns))
        using (Optimizer first = AdamW(context), second = AdamW(context))
        {
            first.Step(context, indices, new[] { gradient }, new[] { parameter }, options);
            Print("adamw.parameter", numbers);
            var state = first.StateSave(context, 0);
            Print("adamw.state", state);
            second.StateLoad(context, 0, state);
            second.Step(context, indices, new[] { gradient }, new[] { parameter }, options);
            Print("adamw.loaded", numbers);
            state[state.Length / 2] ^= 1;
            try
            {
                second.StateLoad(context, 0, state);
            }
            catch (LptException error)
            {
                Console.WriteLine("adamw.damaged {0}", error.StatusText);
            }
        }
    }

    static void Mask(Context context)
    {
        using (var source = Tensor.FromArray(context, Filled(Rows * Columns, 0.25f), Rows, Columns))
        using (var mask = new Tensor(context, Format.Uint8, Rows, Columns))
        {
            var counted = context.SparseMaskSelect(source, mask);
            Print("mask.2_4", context, mask, TensorPart.Payload);
            var offences = context.SparseMaskCheck(mask, 2, 4, SparseDirection.Row);
            Console.WriteLine("mask.counts {0} {1}", counted.KeptCount, offences);
        }
    }

    static void Reduce(Context context)
    {
        var numbers = Filled(Rows * Columns, 1);
        var options = ReduceOptions.Default();
        options.Factor = 0.5;
        using (var tensor = Tensor.FromArray(context, numbers, Rows, Columns))
        using (var group = new CommGroup(1))
        using (var comm = new Comm(context, group, 0))
        using (var future = comm.AllReduceStart(context, tensor, tensor, options)) future.Wait(context);
        Print("reduce.numbers", numbers);
    }

    static void Outlive()
    {
        var context = new Context();
        var tensor = new Tensor(context, Format.F32, Rows, Columns);
        var part = tensor.Part(context, TensorPart.Payload);
        tensor.Dispose();
        context.Dispose();
        using (context = new Context())
        {
            part.CopyFrom(context, BytesOf(Filled(Rows * Columns, 0.25f)));
            Print("part.alone", part.ToBytes(context));
        }
        part.Dispose();
    }

    static int Main()
    {
        using (var context = new Context())
        {
            Console.WriteLine("abi {0}", Context.AbiLevel);
            QuantizeBoth(context);
            Multiply(context);
            TrainLayer(context);
            Optimize(context);
            Mask(context);
            Reduce(context);
        }
        Outlive();
        return 0;
    }
}
