// Additions of the C# layer to lpt.h: layouts, errors, pinned arrays, finalizers, threads. Usage: LptTests.exe LPT_ABI_TXT
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Threading;
using Lpt;

static class LptTests
{
    static void Equal<T>(T expected, T seen, string what)
    {
        if (!EqualityComparer<T>.Default.Equals(expected, seen))
            throw new Exception(string.Format("{0} is {1}: expected {2}", what, seen, expected));
    }

    static string ErrorOf(Action call)
    {
        try
        {
            call();
        }
        catch (LptException error)
        {
            return error.StatusText + ": " + error.Message;
        }
        return "no error";
    }

    static string Plain(string name) { return name.Replace("_", "").ToLowerInvariant(); }

    static void StructsAreLaidOutAsInC(string table)
    {
        var types = typeof(Native).Assembly.GetTypes().Where(type => type.IsValueType && !type.IsEnum && type.IsPublic)
                        .ToDictionary(type => "lpt" + Plain(type.Name));
        var structs = 0;
        foreach (var words in File.ReadLines(table).Select(line => line.Split(' ')))
        {
            if (words[0] == "struct")
            {
                Equal(int.Parse(words[2]), Marshal.SizeOf(types[Plain(words[1])]), words[1]);
                ++structs;
            }
            else if (words[0] == "member")
            {
                var names = words[1].Split('.');
                var type = types[Plain(names[0])];
                var field = type.GetFields().Single(one => Plain(one.Name) == Plain(names[1]));
                Equal(int.Parse(words[2]), Marshal.OffsetOf(type, field.Name).ToInt32(), words[1]);
            }
        }
        Equal(types.Count, structs, "structs");
    }

    static void DefaultsAreTheLibrarys()
    {
        Equal(1.0, GemmOptions.Default().Alpha, "alpha");
        Equal(1e-3, OptimizerStepOptions.Default().LearningRate, "learning rate");
        Equal(Marshal.SizeOf(typeof(GemmOptions)), (int)GemmOptions.Default().StructSize, "struct size");
    }

    static void ErrorsHaveStatusAndText()
    {
        var options = ContextOptions.Default();
        options.ThreadCount = -1;
        Equal(true, ErrorOf(() => new Context(options)).StartsWith("invalid argument: thread_count is -1"), "the start of a text");
        Equal("invalid argument: name is 'e9m9': expected a format", ErrorOf(() => Formats.FromName("e9m9")), "a text");
        Equal("mxfp8_e4m3", Formats.NameOf(Formats.FromName("mxfp8_e4m3")), "a name");
    }

    static void ArraysTooShortAreRejected()
    {
        using (var context = new Context())
        {
            Func<long, long, string> wrap = (rows, columns) =>
                ErrorOf(() => Tensor.FromArray(context, new float[11], rows, columns).Dispose());
            Equal("invalid argument: numbers has 11 elements: expected 3 rows of 4", wrap(3, 4), "3 rows of 4");
            Equal("invalid argument: numbers has 11 elements: expected 9223372036854775807 rows of 4", wrap(long.MaxValue, 4), "many rows");
            Equal("invalid argument: numbers has 11 elements: expected -1 rows of 4", wrap(-1, 4), "rows below 0");
            Equal("no error", wrap(11, 1), "11 rows of 1");
            Equal("unsupported: numbers has elements of type Char: expected a type with a format",
                  ErrorOf(() => Tensor.FromArray(context, new char[2], 1, 2)), "characters");
        }
    }

#if NET7_0_OR_GREATER
    static unsafe void NativeMemoryIsWrapped()
    {
        var address = Marshal.AllocHGlobal(16);
        using (var context = new Context())
        {
            Func<long, string> wrap = rows =>
                ErrorOf(() => Tensor.FromMemory(context, Format.F32, new Span<byte>((void*)address, 16), rows, 2).Dispose());
            Equal("no error", wrap(2), "2 rows of 2");
            Equal("invalid argument: memory has 16 bytes: expected 24", wrap(3), "3 rows of 2");
        }
        Marshal.FreeHGlobal(address);
    }
#endif

    static void APartKeepsTheArrayWhereItIs()
    {
        using (var context = new Context())
        {
            var arrays = new WeakReference[50];
            var parts = arrays.Select((_, i) => PartOfADisposedTensor(context, i, arrays)).ToList();
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Equal(arrays.Length, arrays.Count(array => array.IsAlive), "arrays that live");
            for (var i = 0; i < parts.Count; ++i)
                Equal((float)i, BitConverter.ToSingle(parts[i].ToBytes(context), 63 * 4), "the last number");
            parts.ForEach(part => part.Dispose());
        }
    }

    static Tensor PartOfADisposedTensor(Context context, int number, WeakReference[] arrays)
    {
        var numbers = Enumerable.Repeat((float)number, 64).ToArray();
        arrays[number] = new WeakReference(numbers);
        using (var whole = Tensor.FromArray(context, numbers, 8, 8)) return whole.Part(context, TensorPart.Payload);
    }

    static void FinalizersDestroyHandles()
    {
        using (var context = new Context())
        {
            for (var i = 0; i < 5000; ++i) new Tensor(context, Format.Nvfp4, 16, 64);
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    static void OnTwoRanks(Action<Context, Comm, int> body)
    {
        var problems = new Exception[2];
        using (var group = new CommGroup(2))
        {
            var ranks = Enumerable.Range(0, 2).Select(rank => new Thread(() =>
            {
                try
                {
                    using (var context = new Context())
                    using (var comm = new Comm(context, group, rank)) body(context, comm, rank);
                }
                catch (Exception problem)
                {
                    problems[rank] = problem;
                    group.Abort();
                }
            })).ToList();
            ranks.ForEach(rank => rank.Start());
            ranks.ForEach(rank => rank.Join());
        }
        foreach (var problem in problems.Where(one => one != null)) throw new Exception("on a rank", problem);
    }

    static void RanksReduceAcrossThreads()
    {
        OnTwoRanks((context, comm, rank) =>
        {
            var sum = new[] { 1.5f + rank };
            using (var tensor = Tensor.FromArray(context, sum, 1, 1))
            {
                comm.Broadcast(context, 1, tensor);
                comm.Barrier(context);
                comm.AllReduce(context, tensor, tensor);
            }
            Equal(5f, sum[0], "the sum");
            Equal(2, comm.Values(context).RankCount, "ranks");
        });
    }

    static void Cast(Context context)
    {
        using (var source = Tensor.FromArray(context, Enumerable.Repeat(1.5f, 64).ToArray(), 8, 8))
        using (var fp8 = new Tensor(context, Format.E4m3fn, 8, 8)) context.Quantize(source, fp8);
    }

    static void ExceptionsOfCallbacksAreCarried()
    {
        using (var context = new Context())
        {
            var lines = 0;
            context.SetLog(LogLevel.Dispatch, (level, text) => lines += text.Length > 0 ? 1 : 0);
            Cast(context);
            Equal(true, lines > 0, "lines were received");
            var received = lines;
            context.SetLog(LogLevel.Dispatch, (level, text) => { throw new InvalidOperationException("no paper"); });
            Equal("internal error: log threw: no paper", ErrorOf(() => Cast(context)), "a log that throws");
            context.SetLog(LogLevel.None, null);
            Cast(context);
            Equal(received, lines, "lines without a log");

            long most = 0;
            context.SetProgress((done, total) => { most = Math.Max(most, done); return false; });
            Cast(context);
            Equal(64, most, "elements done");
            context.SetProgress((done, total) => true);
            Equal(true, ErrorOf(() => Cast(context)).StartsWith("cancelled"), "a progress that returns true");
            context.SetProgress((done, total) => { throw new InvalidOperationException("tea"); });
            Equal(true, ErrorOf(() => Cast(context)).EndsWith("; progress threw: tea"), "a progress that throws");
            context.SetProgress(null);
            Cast(context);
        }
    }

    static void CallbacksAndOutputsAreKeptAlive()
    {
        var made = Enumerable.Range(0, 20).Select(_ => HandlesWithWeakReferences()).ToList();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Equal(0, made.Count(one => !one.Item2.IsAlive), "logs that were collected");
        Equal(0, made.Count(one => !one.Item4.IsAlive), "gradients that were collected");
        made.ForEach(one => { one.Item3.Dispose(); one.Item1.Dispose(); });
    }

    /// Returns handles, and weak references to objects that only the handles keep alive.
    static Tuple<Context, WeakReference, GradientBuckets, WeakReference> HandlesWithWeakReferences()
    {
        var context = new Context();
        var lines = new List<string>();
        var numbers = new float[64];
        context.SetLog(LogLevel.Dispatch, (level, text) => lines.Add(text));
        using (var group = new CommGroup(1))
        using (var comm = new Comm(context, group, 0))
        using (var gradient = Tensor.FromArray(context, numbers, 8, 8))
        {
            var buckets = new GradientBuckets(context, comm, new[] { gradient });
            return Tuple.Create(context, new WeakReference(lines), buckets, new WeakReference(numbers));
        }
    }

    /// Encodes the upper half of each float.
    sealed class Halves : Compression
    {
        private readonly string failing;
        private int calls;

        public Halves(string name, string failing) : base(name) { this.failing = failing; }

        private void MayFail(string function)
        {
            if (function == failing) throw new InvalidOperationException("dice");
        }

        // Violates the contract: the library must use the first result.
        protected override long BytesFor(long count) { return 2 * count + 64 * count * Math.Min(calls++, 1); }

        protected override void Encode(float[] numbers, byte[] bytes)
        {
            MayFail("encode");
            for (var i = 0; i < numbers.Length; ++i) Array.Copy(BitConverter.GetBytes(numbers[i]), 2, bytes, 2 * i, 2);
        }

        protected override void Decode(byte[] bytes, float[] numbers)
        {
            MayFail("decode");
            for (var i = 0; i < numbers.Length; ++i)
                numbers[i] = BitConverter.ToSingle(new byte[] { 0, 0, bytes[2 * i], bytes[2 * i + 1] }, 0);
        }
    }

    static float UpperHalf(float number)
    {
        return BitConverter.ToSingle(BitConverter.GetBytes(BitConverter.ToInt32(BitConverter.GetBytes(number), 0) & ~0xffff), 0);
    }

    static void MessagesAreEncodedByACodec()
    {
        var codec = new Halves("halves", null);
        OnTwoRanks((context, comm, rank) =>
        {
            var numbers = Enumerable.Range(0, 3000).Select(i => i % 7 + rank * 0.001f).ToArray();
            using (var tensor = Tensor.FromArray(context, numbers, 30, 100))
            {
                comm.AllReduce(context, tensor, tensor, null, codec);
                for (var i = 0; i < numbers.Length; ++i)
                    Equal(UpperHalf(i % 7 + UpperHalf(i % 7 + 0.001f)), numbers[i], "number " + i);
                var future = comm.AllReduceStart(context, tensor, tensor, null, new Halves("short", null));
                GC.Collect();
                future.Wait(context);
                future.Dispose();
            }
            using (var part = Tensor.FromArray(context, new[] { 5f, 6f }, 1, 2))
            using (var whole = new Tensor(context, Format.F32, 3, 2))
            {
                Equal("invalid argument: counts has 1 elements: expected one for each rank, 2",
                      ErrorOf(() => comm.AllGather(context, part, whole, new long[] { 2 }, codec)), "counts");
            }
        });
        foreach (var function in new[] { "encode", "decode" })
        {
            using (var context = new Context())
            using (var group = new CommGroup(1))
            using (var comm = new Comm(context, group, 0))
            using (var tensor = new Tensor(context, Format.F32, 8, 8))
            {
                var error = ErrorOf(() => comm.AllReduce(context, tensor, tensor, null, new Halves("halves", function)));
                Equal(true, error.StartsWith("aborted") && error.EndsWith("; codec halves threw: dice"), error);
            }
        }
        Equal("invalid argument: name is \"name of 16 bytes\": expected 1 to 12 bytes of ASCII",
              ErrorOf(() => new Halves("name of 16 bytes", null)), "a name");
    }

    static void DevicesAreDescribed()
    {
        var cpu = Devices.Describe(Device.Cpu);
        Equal(1, cpu.IsUsable, "the CPU");
        Equal("", Devices.ReasonOf(cpu), "a reason");
        Equal(false, Devices.NameOf(cpu) == "", "a name is missing");
        var absent = Devices.Describe(Device.Cuda, 1000);
        Equal(0, absent.IsUsable, "GPU 1000");
        Equal(false, Devices.ReasonOf(absent) == "", "a reason is missing");
        Equal("invalid argument: device is 77, index 0: expected a device", ErrorOf(() => Devices.Describe((Device)77)), "device 77");
        using (var context = new Context())
        {
            var copied = new float[2];
            using (var source = Tensor.FromArray(context, new[] { 1f, 2f }, 1, 2))
            using (var target = Tensor.FromArray(context, copied, 1, 2)) context.TensorCopy(source, target);
            Equal(2f, copied[1], "a copy");
        }
    }

    static void GradientsAreReducedInBuckets()
    {
        OnTwoRanks((context, comm, rank) =>
        {
            var numbers = Enumerable.Range(0, 3).Select(i => new[] { i + (float)rank }).ToArray();
            var gradients = Array.ConvertAll(numbers, one => Tensor.FromArray(context, one, 1, 1));
            using (var buckets = new GradientBuckets(context, comm, gradients))
            {
                Array.ForEach(gradients, one => one.Dispose());
                var average = ReduceOptions.Default();
                average.Reduction = Reduction.Average;
                buckets.Begin(context, true, average);
                buckets.Ready(context, 2);
                Equal(true, ErrorOf(() => buckets.Wait(context)).Contains("gradients[0], gradients[1] of 3"), "missing gradients");
                buckets.Ready(context, 0);
                buckets.Ready(context, 1);
                buckets.Wait(context);
                Equal(3, buckets.Values(context).ReadyCount, "ready gradients");
            }
            for (var i = 0; i < 3; ++i) Equal(i + 0.5f, numbers[i][0], "an average");
        });
    }

    static float[] Filled(int count, float factor) { return Enumerable.Range(0, count).Select(i => (i * 7 % 13 - 1) * factor).ToArray(); }

    static void ShardsStepLikeTheFullParameter()
    {
        var kind = OptimizerParameter.Default();
        kind.Elements = 9000;
        kind.FirstMoment = kind.SecondMoment = Format.E4m3fn_1x128;
        var expected = Filled(9000, 0.25f);
        var states = new byte[2][];
        using (var context = new Context())
        using (var alone = new Optimizer(context))
        using (var parameter = Tensor.FromArray(context, expected, 1, 9000))
        using (var gradient = Tensor.FromArray(context, Filled(9000, 1f), 1, 9000))
        {
            alone.Add(context, kind);
            alone.Step(context, new long[] { 0 }, new[] { gradient }, new[] { parameter });
            OnTwoRanks((own, comm, rank) =>
            {
                var numbers = Filled(9000, 0.25f);
                using (var optimizer = new Optimizer(own))
                using (var mine = Tensor.FromArray(own, numbers, 1, 9000))
                using (var slopes = Tensor.FromArray(own, Filled(9000, rank == 0 ? 1f : 0f), 1, 9000))
                {
                    var indices = optimizer.AddShards(own, comm, kind);
                    optimizer.StepShards(own, comm, indices, new[] { slopes }, new[] { mine }, null, ReduceOptions.Default());
                    states[rank] = optimizer.StateSave(own, 0);
                }
                Equal(true, numbers.SequenceEqual(expected), "parameters of shards");
            });
            using (var together = new Optimizer(context))
            {
                together.Add(context, kind);
                together.StateLoadMany(context, 0, states[1], states[0]);
                Equal(true, together.StateSave(context, 0).SequenceEqual(alone.StateSave(context, 0)), "the combined state");
                Equal(true, ErrorOf(() => together.StateLoadMany(context, 0, states[1])).StartsWith("invalid state"), "half of the shards");
            }
        }
    }

    static void SequencesAreGatheredAndScattered()
    {
        OnTwoRanks((context, comm, rank) =>
        {
            var counts = new long[] { 1, 2 };
            var (all, back) = (new float[12], new float[4 * (rank + 1)]);
            using (var input = Tensor.FromArray(context, Enumerable.Repeat(rank + 1f, back.Length).ToArray(), rank + 1, 4))
            using (var output = Tensor.FromArray(context, all, 3, 4))
            using (var own = Tensor.FromArray(context, back, rank + 1, 4))
            {
                comm.SequenceGather(context, input, output, counts);
                comm.SequenceScatter(context, PartialPass.Backward, output, own, counts);
                var options = PartialPlanOptions.Default();
                options.HiddenColumns = 4;
                options.SharedColumns = 2;
                options.RankCount = 2;
                options.PrivateScale = PartialScale.One;
                using (var plan = new PartialPlan(context, options))
                {
                    Equal(true, ErrorOf(() => comm.SequenceGather(context, input, output, counts, plan)).StartsWith("unsupported"),
                          "private columns");
                    comm.PartialAllReduce(context, plan, PartialPass.Forward, output, output);
                }
            }
            Equal(true, all.SequenceEqual(new[] { 2f, 2, 1, 1, 4, 4, 2, 2, 4, 4, 2, 2 }), "the sum of shared columns");
            Equal(true, back.All(number => number == 2f * (rank + 1)), "the scattered rows");
        });
    }

    static int Main(string[] arguments)
    {
        var tests = new List<Action> {
            () => StructsAreLaidOutAsInC(arguments[0]), DefaultsAreTheLibrarys, ErrorsHaveStatusAndText, ArraysTooShortAreRejected,
            APartKeepsTheArrayWhereItIs, FinalizersDestroyHandles, RanksReduceAcrossThreads,
            ExceptionsOfCallbacksAreCarried, CallbacksAndOutputsAreKeptAlive, MessagesAreEncodedByACodec, DevicesAreDescribed,
            GradientsAreReducedInBuckets, ShardsStepLikeTheFullParameter, SequencesAreGatheredAndScattered,
        };
#if NET7_0_OR_GREATER
        tests.Add(NativeMemoryIsWrapped);
#endif
        var failed = 0;
        for (var i = 0; i < tests.Count; ++i)
        {
            try
            {
                tests[i]();
            }
            catch (Exception problem)
            {
                Console.WriteLine("test {0}: {1}", i, problem);
                ++failed;
            }
        }
        Console.WriteLine("LptTests: {0} passed, {1} failed", tests.Count - failed, failed);
        return failed;
    }
}
