// What the C# layer adds to lpt.h: layouts, refusals, pins, finalizers, threads. Run as: LptTests.exe LPT_ABI_TXT
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

    static string Refusal(Action call)
    {
        try
        {
            call();
        }
        catch (LptException refusal)
        {
            return refusal.StatusText + ": " + refusal.Message;
        }
        return "no refusal";
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
                var place = words[1].Split('.');
                var type = types[Plain(place[0])];
                var field = type.GetFields().Single(one => Plain(one.Name) == Plain(place[1]));
                Equal(int.Parse(words[2]), Marshal.OffsetOf(type, field.Name).ToInt32(), words[1]);
            }
        }
        Equal(types.Count, structs, "structs");
    }

    static void DefaultsAreTheLibrarys()
    {
        Equal(1.0, GemmOptions.Default().Alpha, "alpha");
        Equal(1e-3, StepOptions.Default().LearningRate, "learning rate");
        Equal(Marshal.SizeOf(typeof(GemmOptions)), (int)GemmOptions.Default().StructSize, "struct size");
    }

    static void ErrorsTellStatusAndText()
    {
        var options = ContextOptions.Default();
        options.ThreadCount = -1;
        Equal(true, Refusal(() => new Context(options)).StartsWith("invalid argument: thread_count is -1"), "a text's begin");
        Equal("invalid argument: name is 'e9m9': expected a format", Refusal(() => Formats.FromName("e9m9")), "a text");
        Equal("mxfp8_e4m3", Formats.NameOf(Formats.FromName("mxfp8_e4m3")), "a name");
    }

    static void ArraysTooShortAreRefused()
    {
        using (var context = new Context())
        {
            Func<long, long, string> wrap = (rows, columns) =>
                Refusal(() => Tensor.FromArray(context, new float[11], rows, columns).Dispose());
            Equal("invalid argument: numbers are 11: expected 3 rows of 4", wrap(3, 4), "3 rows of 4");
            Equal("invalid argument: numbers are 11: expected 9223372036854775807 rows of 4", wrap(long.MaxValue, 4), "many rows");
            Equal("invalid argument: numbers are 11: expected -1 rows of 4", wrap(-1, 4), "rows below 0");
            Equal("no refusal", wrap(11, 1), "11 rows of 1");
            Equal("unsupported: numbers are Char: expected a number with a format",
                  Refusal(() => Tensor.FromArray(context, new char[2], 1, 2)), "characters");
        }
    }

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
        using (var whole = Tensor.FromArray(context, numbers, 8, 8)) return whole.Part(context, Part.Payload);
    }

    static void FinalizersEndWhatWasForgotten()
    {
        using (var context = new Context())
        {
            for (var i = 0; i < 5000; ++i) new Tensor(context, Format.Nvfp4, 16, 64);
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    static void RanksAddUpAcrossThreads()
    {
        var sums = new float[2][];
        using (var group = new CommGroup(2))
        {
            var ranks = Enumerable.Range(0, 2).Select(rank => new Thread(() =>
            {
                using (var context = new Context())
                using (var comm = new Comm(context, group, rank))
                using (var tensor = Tensor.FromArray(context, sums[rank] = new[] { 1.5f + rank }, 1, 1))
                {
                    comm.Broadcast(context, 1, tensor);
                    comm.Barrier(context);
                    comm.AllReduce(context, tensor, tensor);
                }
            })).ToList();
            ranks.ForEach(rank => rank.Start());
            ranks.ForEach(rank => rank.Join());
        }
        Equal(5f, sums[0][0], "the sum of rank 0");
        Equal(5f, sums[1][0], "the sum of rank 1");
    }

    static int Main(string[] arguments)
    {
        var tests = new List<Action> {
            () => StructsAreLaidOutAsInC(arguments[0]), DefaultsAreTheLibrarys, ErrorsTellStatusAndText, ArraysTooShortAreRefused,
            APartKeepsTheArrayWhereItIs, FinalizersEndWhatWasForgotten, RanksAddUpAcrossThreads,
        };
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
